# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_cache_layer
-----------------------
Links transforms with their library at build time, for packages that ship linked images. On a machine where such
a package is installed, the first run neither links nor loads nvJitLink.

  fatlink_add_cache_layer(<target>
    LIBRARY <target or file> TRANSFORMS <target or file>...
    [ARCHITECTURES <cc>...] [MODE lto|ptx|both|sass] [EMIT cubin|ptx...]
    [ALLOW_CALLS] [WHOLE_ARCHIVE]
    [KERNELS <name>...] [VARIABLES <name>...] [DROP_UNUSED_VARIABLES]
    [MAX_REGISTERS <n>] [OPTIMIZE 0|3] [FAST_COMPILE min|mid|max]
    [LINE_INFO] [DEBUG] [STACK_PROTECTOR] [LATEST_NVVM]
    [FTZ 0|1] [PREC_DIV 0|1] [PREC_SQRT 0|1] [FMA 0|1]
    [THREADS <n>] [NO_DRIVER_CACHE] [PTXAS <option>...] [NVVM <option>...]
    [INSTALL_DESTINATION <folder> [INSTALL_COMPONENT <name>]])

``LIBRARY``, ``TRANSFORMS``
  Targets of ``fatlink_add_fatbin``, or files of any input form. Each transform is linked with the library
  separately. For a library with several hooks, join the transforms of one link by ``+``: ``load+store`` is one link
  with both. (A target or file whose name contains ``+`` cannot be part of such a group.)
``ARCHITECTURES``
  Compute capabilities of the GPUs, for example ``80;90a``. A cubin for 80 also serves 86 and 89. Default: every generic
  one that CUDA 13 supports.
``MODE``, ``EMIT``
  The link modes, and the kinds of image: PTX, which only ``lto`` mode emits, is for the reference device. Default:
  ``both``, that is ``lto`` and ``ptx``, or ``lto`` with ``EMIT ptx``; ``cubin ptx``, or ``cubin`` with ``MODE ptx`` or
  ``MODE sass``. ``sass`` links cubins only, without a compiler: each input must have SASS
  for exactly each of ``ARCHITECTURES``, as ``fatlink_add_fatbin(... SASS <cc>...)`` adds it.
``ALLOW_CALLS``, ``WHOLE_ARCHIVE``
  Also link inputs without LTO-IR (``lto``) or PTX (``ptx``) as they are, with real calls; link all members of
  archives. See docs/using.md, "Mix forms" and "Archives".
``KERNELS`` to ``NVVM``
  The options of the links, as ``fatlink cache warm`` takes them (``VARIABLES``: ``--keep-variable``); see
  docs/using.md, "Options of a link". A layer serves links with the same options only. Default of ``KERNELS``: those of
  the launch plan of ``LIBRARY``, as ``fatlink run`` links it; without a plan all. An option that has no effect in
  one of the layer's links stops configuration: add ``MODE lto`` or ``EMIT cubin``. With ``MODE sass``, of these
  only ``KERNELS`` and ``NO_DRIVER_CACHE`` have an effect.
``INSTALL_DESTINATION``
  Also installs the layer to this folder. ``fatlink`` searches ``cache`` in each folder that ``fatlink list``
  searches, for example ``share/fatlink/cache``. Entries are named after their contents, so the entries of several
  packages can share a folder.
``INSTALL_COMPONENT``
  The install component. Default: ``transforms``.

It serves machines with any nvJitLink or none, except those that name another one than the nvJitLink that is found at
build time ($FATLINK_NVJITLINK). The same inputs give the same bytes. The target property ``FATLINK_LAYER`` is the folder of the layer.

Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/check_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/fatbin_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/layer/link_options.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/require_nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/toolkit_root.cmake")

function(fatlink_add_cache_layer target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${_fatlink_link_switches}"
    "LIBRARY;INSTALL_DESTINATION;INSTALL_COMPONENT;${_fatlink_link_values}"
    "TRANSFORMS;ARCHITECTURES;${_fatlink_link_lists}")
  set(caller "fatlink_add_cache_layer(${target})")
  fatlink_check_arguments("${caller}" LIBRARY TRANSFORMS)
  fatlink_check_install_component("${caller}")
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES 75 80 86 87 88 89 90 100 103 110 120 121)
  endif()
  _fatlink_check_architectures("${caller}" ARCHITECTURES)
  _fatlink_check_link_options("${caller}")
  _fatlink_layer_commands("${caller}" commands inputs)

  set(layer "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  add_custom_command(OUTPUT "${layer}.stamp"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${layer}"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E touch "${layer}.stamp"
    DEPENDS ${inputs} fatlink::program
    COMMENT "Linking cache layer ${target}"
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

# The COMMAND arguments that fill the layer, one `fatlink cache warm` per link, and the files they read.
function(_fatlink_layer_commands caller commands_out inputs_out)
  list(TRANSFORM arg_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE targets)
  list(JOIN targets "," targets)
  set(layer "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  _fatlink_fatbin_files("${caller}" "${arg_LIBRARY}" library)
  _fatlink_layer_nvjitlink("${caller}" nvjitlink)
  _fatlink_link_option_flags(flags)
  set(commands "")
  set(inputs "${library}" "${nvjitlink}")
  foreach(element IN LISTS arg_TRANSFORMS)
    _fatlink_split_transform_group("${caller}" "${element}" names)
    _fatlink_fatbin_files("${caller}" "${names}" transforms)
    list(APPEND inputs ${transforms})
    list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E env "FATLINK_NVJITLINK=${nvjitlink}"
      $<TARGET_FILE:fatlink::program> cache warm --no-cache --json --target ${targets}
      ${flags} --layer "${layer}" "${library}" ${transforms} > "${layer}.log")
  endforeach()
  list(REMOVE_DUPLICATES inputs)
  set(${commands_out} "${commands}" PARENT_SCOPE)
  set(${inputs_out} "${inputs}" PARENT_SCOPE)
endfunction()

# The nvJitLink of nvcc's own toolkit, even if the machine has others.
function(_fatlink_layer_nvjitlink caller library_out)
  fatlink_require_nvcc("${caller}")
  fatlink_toolkit_root("${caller}" toolkit)
  unset(path)  # find_library does not search when the variable is set
  find_library(path NAMES libnvJitLink.so.13 PATHS "${toolkit}/lib64" "${toolkit}/lib"
    "${toolkit}/targets/x86_64-linux/lib" NO_DEFAULT_PATH NO_CACHE)
  if(NOT path)
    message(FATAL_ERROR "${caller}: no libnvJitLink.so.13 in ${toolkit}; install the nvJitLink of the toolkit "
      "(Debian, Ubuntu: libnvjitlink-13-0)")
  endif()
  set(${library_out} "${path}" PARENT_SCOPE)
endfunction()

# The names in one element of TRANSFORMS: the element, or the names that it joins by "+".
function(_fatlink_split_transform_group caller element names_out)
  set(${names_out} "${element}" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH element BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE file)
  if(TARGET "${element}" OR EXISTS "${file}" OR NOT element MATCHES "[+]")
    return()
  endif()
  if(element MATCHES "^[+]|[+]$|[+][+]")
    message(FATAL_ERROR "${caller}: TRANSFORMS ${element}: a group is two or more transforms joined by one +, "
      "such as load+store")
  endif()
  string(REPLACE "+" ";" names "${element}")
  set(unique "${names}")
  list(REMOVE_DUPLICATES unique)
  if(NOT names STREQUAL unique)
    message(FATAL_ERROR "${caller}: TRANSFORMS ${element}: a group must not name a transform twice")
  endif()
  set(${names_out} "${names}" PARENT_SCOPE)
endfunction()

# The files of inputs, each a target of fatlink_add_fatbin or a file.
function(_fatlink_fatbin_files caller inputs files_out)
  set(files "")
  foreach(input IN LISTS inputs)
    if(TARGET ${input})
      get_target_property(file ${input} FATLINK_FATBIN)
      if(NOT file)
        message(FATAL_ERROR "${caller}: ${input} is not a target of fatlink_add_fatbin")
      endif()
      list(APPEND files "${file}")
    else()
      cmake_path(ABSOLUTE_PATH input BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      if(NOT EXISTS "${input}")
        message(FATAL_ERROR "${caller}: ${input}: no such target or file")
      endif()
      list(APPEND files "${input}")
    endif()
  endforeach()
  set(${files_out} "${files}" PARENT_SCOPE)
endfunction()
