# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_cache_layer
-----------------------
Links transforms with their library at build time, for packages that ship the links ready made: where
they are installed, a first run links nothing and opens no nvJitLink.

  fatlink_add_cache_layer(<target>
    LIBRARY <target or file> TRANSFORMS <target or file>...
    [ARCHITECTURES <cc>...]
    [INSTALL_DESTINATION <dir> [INSTALL_COMPONENT <name>]])

``LIBRARY``, ``TRANSFORMS``
  Targets of ``fatlink_add_fatbin``, or fatbins. Each transform is linked with the library by itself. Where a
  library has several hooks, transforms that are linked together are joined by ``+``: ``load+store`` is one link
  with both. (A target or file whose own name has a ``+`` cannot be in such a group.)
``ARCHITECTURES``
  The GPUs it is for, e.g. ``80;90a``. Default: every generic one that CUDA 13 knows.
``INSTALL_DESTINATION``
  Also installs the layer there; ``fatlink`` looks into ``cache`` of each folder that
  ``fatlink list`` searches, so ``share/fatlink/cache`` beside it or in ``/usr``. Entries are named by
  their contents: those of several packages lie side by side.
``INSTALL_COMPONENT``
  The component it is installed with. Default: ``transforms``.

Both link modes, as cubin, and in LTO mode as PTX for the reference device. The layer is the folder
in the target's property ``FATLINK_LAYER``. It serves hosts with the nvJitLink that is found here, and
hosts with none; the same inputs make the same bytes. Missing, unknown or malformed arguments stop
configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/FatlinkAddFatbin.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/require_nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/toolkit_root.cmake")

function(fatlink_add_cache_layer target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY;INSTALL_DESTINATION;INSTALL_COMPONENT"
    "TRANSFORMS;ARCHITECTURES")
  set(me "fatlink_add_cache_layer(${target})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LIBRARY OR NOT arg_TRANSFORMS)
    message(FATAL_ERROR "${me}: LIBRARY and TRANSFORMS are needed")
  endif()
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES 75 80 86 87 88 89 90 100 103 110 120 121)
  endif()
  _fatlink_check_architectures("${me}" "${arg_ARCHITECTURES}")
  list(TRANSFORM arg_ARCHITECTURES PREPEND "sm_")
  list(JOIN arg_ARCHITECTURES "," targets)

  _fatlink_fatbins("${me}" "${arg_LIBRARY}" library)
  set(layer "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  fatlink_require_nvcc("${me}")
  # The toolkit's own nvJitLink, whatever else is on this machine.
  fatlink_toolkit_root("${me}" toolkit)
  find_library(linker NAMES libnvJitLink.so.13 PATHS "${toolkit}/lib64" "${toolkit}/lib"
    "${toolkit}/targets/x86_64-linux/lib" NO_DEFAULT_PATH NO_CACHE)
  if(NOT linker)
    message(FATAL_ERROR "${me}: no libnvJitLink.so.13 in ${toolkit}; install the toolkit's nvJitLink "
      "(Debian, Ubuntu: libnvjitlink-13-0)")
  endif()
  set(commands "")
  set(transforms "")
  foreach(element IN LISTS arg_TRANSFORMS)
    _fatlink_transform_group("${me}" "${element}" names)
    _fatlink_fatbins("${me}" "${names}" group)
    list(APPEND transforms ${group})
    list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E env "FATLINK_NVJITLINK=${linker}"
      $<TARGET_FILE:fatlink::program> cache warm --no-cache --json --target ${targets}
      --emit cubin,ptx --layer "${layer}" "${library}" ${group} > "${layer}.log")
  endforeach()
  list(REMOVE_DUPLICATES transforms)
  add_custom_command(OUTPUT "${layer}.stamp"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${layer}"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E touch "${layer}.stamp"
    DEPENDS "${library}" ${transforms} "${linker}" fatlink::program
    COMMENT "Linking ahead for ${targets}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${layer}.stamp")
  set_target_properties(${target} PROPERTIES FATLINK_LAYER "${layer}")
  if(arg_INSTALL_DESTINATION)
    if(NOT arg_INSTALL_COMPONENT)
      set(arg_INSTALL_COMPONENT transforms)
    endif()
    install(DIRECTORY "${layer}/" DESTINATION "${arg_INSTALL_DESTINATION}"
      COMPONENT "${arg_INSTALL_COMPONENT}")
  endif()
endfunction()

# The transforms of an element of TRANSFORMS: itself, or those that it joins by "+".
function(_fatlink_transform_group me element out)
  set(${out} "${element}" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH element BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE file)
  if(TARGET "${element}" OR EXISTS "${file}" OR NOT element MATCHES "[+]")
    return()
  endif()
  if(element MATCHES "^[+]|[+]$|[+][+]")
    message(FATAL_ERROR "${me}: TRANSFORMS ${element}: a group is two or more transforms joined by one +, "
      "such as load+store")
  endif()
  string(REPLACE "+" ";" names "${element}")
  set(known "")
  foreach(name IN LISTS names)
    if(name IN_LIST known)
      message(FATAL_ERROR "${me}: TRANSFORMS ${element}: ${name} is named twice")
    endif()
    list(APPEND known "${name}")
  endforeach()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# The files of targets of fatlink_add_fatbin, or files as they are.
function(_fatlink_fatbins me inputs out)
  set(files "")
  foreach(input IN LISTS inputs)
    if(TARGET ${input})
      get_target_property(file ${input} FATLINK_FATBIN)
      if(NOT file)
        message(FATAL_ERROR "${me}: ${input} is no target of fatlink_add_fatbin")
      endif()
      list(APPEND files "${file}")
    else()
      cmake_path(ABSOLUTE_PATH input BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      if(NOT EXISTS "${input}")
        message(FATAL_ERROR "${me}: ${input}: no such target or file")
      endif()
      list(APPEND files "${input}")
    endif()
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()
