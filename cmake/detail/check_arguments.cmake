# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
check_arguments
---------------
Checks that fatlink's CMake functions share. Each reads the variables ``arg_<keyword>`` that
``cmake_parse_arguments(... arg ...)`` set in the caller, and stops configuration with a message that begins
with ``<caller>``, for example ``fatlink_add_fatbin(gelu)``.

  fatlink_check_arguments(<caller> [<required keyword>...])
  fatlink_check_install_component(<caller>)
  fatlink_check_duplicates(<caller> <keyword>)
  fatlink_find_file(<caller> <keyword>)

``fatlink_check_arguments``
  Rejects unknown arguments, keywords without a value, and missing required keywords.
``fatlink_check_install_component``
  Rejects ``INSTALL_COMPONENT`` without ``INSTALL_DESTINATION``.
``fatlink_check_duplicates``
  Rejects a list that holds the same value twice.
``fatlink_find_file``
  Sets ``arg_<keyword>`` to an absolute path in the caller. The file is in the source directory, or a custom command of
  the build makes it there or in the binary directory (property ``GENERATED``, which ``add_custom_command`` sets).
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_check_arguments caller)
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " arguments)
    message(FATAL_ERROR "${caller}: unknown argument: ${arguments}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES " " keywords)
    message(FATAL_ERROR "${caller}: no value for ${keywords}")
  endif()
  foreach(keyword IN LISTS ARGN)
    if("${arg_${keyword}}" STREQUAL "")
      message(FATAL_ERROR "${caller}: ${keyword} is missing")
    endif()
  endforeach()
endfunction()

function(fatlink_check_install_component caller)
  if(arg_INSTALL_COMPONENT AND NOT arg_INSTALL_DESTINATION)
    message(FATAL_ERROR "${caller}: INSTALL_COMPONENT ${arg_INSTALL_COMPONENT} without INSTALL_DESTINATION")
  endif()
endfunction()

function(fatlink_check_duplicates caller keyword)
  set(checked "")
  foreach(value IN LISTS arg_${keyword})
    if(value IN_LIST checked)
      message(FATAL_ERROR "${caller}: ${keyword} lists ${value} twice")
    endif()
    list(APPEND checked "${value}")
  endforeach()
endfunction()

function(fatlink_find_file caller keyword)
  set(given "${arg_${keyword}}")
  if(given MATCHES "\\$<")
    message(FATAL_ERROR "${caller}: ${keyword} ${given}: a generator expression; pass the path of a file")
  endif()
  foreach(base IN ITEMS "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
    cmake_path(ABSOLUTE_PATH given BASE_DIRECTORY "${base}" NORMALIZE OUTPUT_VARIABLE file)
    get_property(is_generated SOURCE "${file}" PROPERTY GENERATED)
    if(is_generated OR (EXISTS "${file}" AND NOT IS_DIRECTORY "${file}" AND base STREQUAL CMAKE_CURRENT_SOURCE_DIR))
      set(arg_${keyword} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  cmake_path(ABSOLUTE_PATH given BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  message(FATAL_ERROR "${caller}: ${keyword} ${given}: no such file. If the build makes it, call add_custom_command "
    "with this OUTPUT before, in the same directory")
endfunction()
