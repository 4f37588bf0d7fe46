# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
arguments
---------
Checks that fatlink's CMake functions share. Each stops configuration with a message that begins with ``<caller>``, for
example ``fatlink_add_fatbin(gelu)``. All but the last read the variables ``arg_<keyword>`` that
``cmake_parse_arguments(... arg ...)`` set in the caller.

  fatlink_check_arguments(<caller> [<required keyword>...])
  fatlink_check_install_component(<caller>)
  fatlink_check_duplicates(<caller> <keyword>)
  fatlink_find_file(<caller> <keyword>)
  _fatlink_check_architectures(<caller> <keyword>)
  fatlink_package_text(<caller> <name> <version> <out-var>)

``fatlink_check_arguments``
  Rejects unknown arguments, keywords without a value, and missing required keywords.
``fatlink_check_install_component``
  Rejects ``INSTALL_COMPONENT`` without ``INSTALL_DESTINATION``.
``fatlink_check_duplicates``
  Rejects a list that holds the same value twice.
``fatlink_find_file``
  Sets ``arg_<keyword>`` to an absolute path in the caller. The file is in the source directory, or a custom command of
  the build makes it there or in the binary directory (property ``GENERATED``, which ``add_custom_command`` sets).
``_fatlink_check_architectures``
  Rejects what is not a compute capability of CUDA 13, and duplicates.
``fatlink_package_text``
  Gives a package as idents state it: its name, followed by its version if one is known. If ``<name>`` is empty, the
  project's name and version are used; the result is empty if the project's name cannot be a package name. Rejects a
  malformed name or version, and a version without a name.
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

function(_fatlink_check_architectures caller keyword)
  set(known 75 80 86 87 88 89 90 100 103 107 110 120 121)  # nvcc --list-gpu-arch of CUDA 13.5; 107 from 13.4 on
  foreach(architecture IN LISTS arg_${keyword})
    if(NOT architecture MATCHES "^([0-9]+)([af]?)$")
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: expected a compute capability such as 75 or "
        "90a")
    endif()
    set(number "${CMAKE_MATCH_1}")
    set(suffix "${CMAKE_MATCH_2}")
    if(number LESS 75)
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: CUDA 13 supports 75 and newer")
    endif()
    if(NOT number IN_LIST known)
      list(JOIN known ", " numbers)
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: CUDA 13 has no such compute capability; it has "
        "${numbers}")
    endif()
    if((suffix STREQUAL "a" AND number LESS 90) OR (suffix STREQUAL "f" AND number LESS 100))
      message(FATAL_ERROR "${caller}: ${keyword} ${architecture}: ${number} has no features with the suffix "
        "${suffix}; write ${number}")
    endif()
  endforeach()
  fatlink_check_duplicates("${caller}" ${keyword})
endfunction()

function(fatlink_package_text caller name version text_out)
  set(well_formed "^[A-Za-z0-9][A-Za-z0-9+._-]*$")
  if(name)
    if(NOT name MATCHES "${well_formed}")
      message(FATAL_ERROR "${caller}: PACKAGE '${name}': a package's name consists of letters, digits and + . _ -")
    endif()
  elseif(version)
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION ${version} without PACKAGE")
  elseif(PROJECT_NAME MATCHES "${well_formed}")
    set(name "${PROJECT_NAME}")
  endif()
  if(NOT version)
    set(version "${PROJECT_VERSION}")
  elseif(NOT version MATCHES "^[0-9][A-Za-z0-9.+:~-]*$")
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION '${version}': expected a version such as 1.2.0")
  endif()
  set(text "${name}")
  if(name AND version)
    string(APPEND text " ${version}")
  endif()
  set(${text_out} "${text}" PARENT_SCOPE)
endfunction()
