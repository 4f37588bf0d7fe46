# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_cache_layer
-----------------------
Links transforms with their library at build time, and stores the linked images in a cache layer, a folder that a package
can ship. If such a package is installed, the first run on a machine neither links nor loads nvJitLink.

  fatlink_add_cache_layer(<target>
    LIBRARY <target or file> TRANSFORMS <target or file>...
    [ARCHITECTURES <cc>...] [MODE lto|ptx|both|sass] [EMIT cubin|ptx...]
    [ONE_COPY] [ALLOW_CALLS] [WHOLE_ARCHIVE]
    [KERNELS <name>...] [VARIABLES <name>...] [DROP_UNUSED_VARIABLES]
    [MAX_REGISTERS <n>] [OPTIMIZE 0|3] [FAST_COMPILE min|mid|max]
    [LINE_INFO] [DEBUG] [STACK_PROTECTOR] [LATEST_NVVM]
    [FTZ 0|1] [PREC_DIV 0|1] [PREC_SQRT 0|1] [FMA 0|1]
    [THREADS <n>] [NO_DRIVER_CACHE] [PTXAS <option>...] [NVVM <option>...]
    [INSTALL_DESTINATION <folder> [INSTALL_COMPONENT <name>]])

``LIBRARY``, ``TRANSFORMS``
  Targets of ``fatlink_add_fatbin``, or files of any input form. Each transform is linked with the library
  separately. For a library with several hooks, join the transforms of one link with ``+``: ``load+store`` is one link
  with both. A target or file whose name contains ``+`` cannot be part of such a group.
``ARCHITECTURES``
  Compute capabilities of the GPUs, for example ``80;90a``. A cubin for 80 also runs on 86 and 89. Default: all generic
  compute capabilities that CUDA 13 supports.
``MODE``
  The link modes. ``both`` means ``lto`` and ``ptx``. ``sass`` links cubins, without a compiler. Each input must then
  contain SASS for each of the ``ARCHITECTURES``, not only for an older compatible one (see
  ``fatlink_add_fatbin(... SASS <cc>...)``). Default: ``lto`` with ``EMIT ptx``, otherwise ``both``.
``EMIT``
  The kinds of image. PTX is for the reference device, and only ``lto`` mode emits it. Default: ``cubin`` with
  ``MODE ptx`` or ``MODE sass``, otherwise ``cubin ptx``.
``ONE_COPY``
  Stores each link once, which halves the size of the layer. Machines where the user selects an nvJitLink
  (``$FATLINK_NVJITLINK``) then do not use the layer.
``ALLOW_CALLS``
  Also links inputs that have no LTO-IR (mode ``lto``) or no PTX (mode ``ptx``). Their functions are called, not inlined.
  See docs/using.md, "Mix forms".
``WHOLE_ARCHIVE``
  Links all members of archives. See docs/using.md, "Archives".
``KERNELS`` to ``NVVM``
  The options of the links, as for ``fatlink cache warm`` (``VARIABLES`` is ``--keep-variable``); see docs/using.md,
  "Options of a link". A layer is used only by links with the same options. ``KERNELS`` defaults to the kernels in the
  launch plan of ``LIBRARY``, as in ``fatlink run``; if the library has no plan, to all kernels. Configuration stops if an
  option has no effect in one of the links of the layer. In this case, restrict the layer with ``MODE lto`` or
  ``EMIT cubin``. With ``MODE sass``, only ``KERNELS`` and ``NO_DRIVER_CACHE`` have an effect.
``INSTALL_DESTINATION``
  Also installs the layer to this folder. ``fatlink`` searches the folder ``cache`` in each folder that ``fatlink list``
  searches, for example ``share/fatlink/cache``. Entries are named after their contents, so the entries of several
  packages can share a folder.
``INSTALL_COMPONENT``
  The install component. Default: ``transforms``.

The layer can be used with any version of nvJitLink, and without nvJitLink, on hosts of every architecture. A cross build
runs fatlink in ``CMAKE_CROSSCOMPILING_EMULATOR``, or copies the layer from ``FATLINK_NATIVE_BUILD`` (``fatlink_add_fatbin``). It is not used if ``$FATLINK_NVJITLINK`` names a
different nvJitLink than the one that made the layer. The same inputs produce the same bytes. The target property
``FATLINK_LAYER`` is the folder of the layer.

Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc.cmake")

# The options of nvJitLink.
set(_fatlink_link_switches ALLOW_CALLS WHOLE_ARCHIVE DROP_UNUSED_VARIABLES LINE_INFO DEBUG STACK_PROTECTOR LATEST_NVVM NO_DRIVER_CACHE)
set(_fatlink_link_values MODE MAX_REGISTERS OPTIMIZE FAST_COMPILE FTZ PREC_DIV PREC_SQRT FMA THREADS)
set(_fatlink_link_lists EMIT KERNELS VARIABLES PTXAS NVVM)

function(fatlink_add_cache_layer target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_COPY;${_fatlink_link_switches}"
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
  set(layer "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  if(FATLINK_NATIVE_BUILD)
    _fatlink_native_layer(commands inputs)
  else()
    _fatlink_layer_commands("${caller}" commands inputs)
    list(APPEND inputs fatlink::program)
  endif()
  add_custom_command(OUTPUT "${layer}.stamp"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${layer}"
    ${commands}
    COMMAND "${CMAKE_COMMAND}" -E touch "${layer}.stamp"
    DEPENDS ${inputs}
    COMMENT "Linking cache layer ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${layer}.stamp")
  set_target_properties(${target} PROPERTIES FATLINK_LAYER "${layer}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_DEVICE_CODE ${target})
  if(arg_INSTALL_DESTINATION)
    if(NOT arg_INSTALL_COMPONENT)
      set(arg_INSTALL_COMPONENT transforms)
    endif()
    install(DIRECTORY "${layer}/" DESTINATION "${arg_INSTALL_DESTINATION}"
      COMPONENT "${arg_INSTALL_COMPONENT}")
  endif()
endfunction()

# The COMMAND arguments that copy the layer of FATLINK_NATIVE_BUILD, and the file that changes with it.
function(_fatlink_native_layer commands_out inputs_out)
  cmake_path(RELATIVE_PATH layer BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE native)
  set(native "${FATLINK_NATIVE_BUILD}/${native}")
  cmake_path(ABSOLUTE_PATH native BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE)
  set(${commands_out} COMMAND "${CMAKE_COMMAND}" -E copy_directory "${native}" "${layer}" PARENT_SCOPE)
  set(${inputs_out} "${native}.stamp" PARENT_SCOPE)
endfunction()

# The COMMAND arguments that fill the layer, one `fatlink cache warm` per link, and the files they read.
function(_fatlink_layer_commands caller commands_out inputs_out)
  list(TRANSFORM arg_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE targets)
  list(JOIN targets "," targets)
  _fatlink_fatbin_files("${caller}" "${arg_LIBRARY}" library)
  _fatlink_layer_nvjitlink("${caller}" nvjitlink)
  _fatlink_link_option_flags(flags)
  if(arg_ONE_COPY)
    list(APPEND flags --one-copy)
  endif()
  set(commands "")
  set(inputs "${library}" "${nvjitlink}")
  foreach(element IN LISTS arg_TRANSFORMS)
    _fatlink_split_transform_group("${caller}" "${element}" names)
    _fatlink_fatbin_files("${caller}" "${names}" transforms)
    list(APPEND inputs ${transforms})
    list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E env "FATLINK_NVJITLINK=${nvjitlink}"
      ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:fatlink::program> cache warm --no-cache --json --target ${targets}
      ${flags} --layer "${layer}" "${library}" ${transforms} > "${layer}.log")
  endforeach()
  list(REMOVE_DUPLICATES inputs)
  set(${commands_out} "${commands}" PARENT_SCOPE)
  set(${inputs_out} "${inputs}" PARENT_SCOPE)
endfunction()

# The nvJitLink of nvcc's own toolkit.
function(_fatlink_layer_nvjitlink caller library_out)
  fatlink_require_nvcc("${caller}")
  fatlink_toolkit_library("${caller}" nvJitLink path)
  if(NOT path)
    message(FATAL_ERROR "${caller}: no libnvJitLink.so.13 in ${FATLINK_TOOLKIT_ROOT}; install the nvJitLink of the toolkit "
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

# Stops configuration if `fatlink cache warm` would refuse a value, or if an option has no effect in one of the links of the
# layer. Sets the defaults of arg_MODE and arg_EMIT in the caller.
function(_fatlink_check_link_options caller)
  _fatlink_check_choice(MODE lto ptx both sass)
  _fatlink_check_choice(EMIT cubin ptx)
  _fatlink_check_choice(OPTIMIZE 0 3)
  _fatlink_check_choice(FAST_COMPILE min mid max)
  foreach(keyword IN ITEMS FTZ PREC_DIV PREC_SQRT FMA)
    _fatlink_check_choice(${keyword} 0 1)
  endforeach()
  _fatlink_check_range(MAX_REGISTERS 24 255)
  _fatlink_check_range(THREADS 1 256)
  foreach(keyword IN ITEMS KERNELS VARIABLES EMIT)
    fatlink_check_duplicates("${caller}" ${keyword})
  endforeach()
  foreach(keyword IN ITEMS KERNELS VARIABLES)
    _fatlink_check_words(${keyword} "^[A-Za-z_$%][A-Za-z0-9_$%]*$"
      " is not the name of a symbol; fatlink inspect lists them")
  endforeach()
  foreach(keyword IN ITEMS PTXAS NVVM)
    _fatlink_check_words(${keyword} "^-[^ \t\r\n]+$" ": each option is one word that begins with a dash")
  endforeach()
  _fatlink_set_links()
  _fatlink_check_effects()
  _fatlink_check_pairs()
  set(arg_MODE "${arg_MODE}" PARENT_SCOPE)
  set(arg_EMIT "${arg_EMIT}" PARENT_SCOPE)
endfunction()

function(_fatlink_check_choice keyword)
  foreach(value IN LISTS arg_${keyword})
    if(NOT value IN_LIST ARGN)
      string(REPLACE ";" ", " choices "${ARGN}")
      message(FATAL_ERROR "${caller}: ${keyword} ${value} is not one of ${choices}")
    endif()
  endforeach()
endfunction()

function(_fatlink_check_words keyword pattern fault)
  foreach(word IN LISTS arg_${keyword})
    if(NOT word MATCHES "${pattern}")
      message(FATAL_ERROR "${caller}: ${keyword} ${word}${fault}")
    endif()
  endforeach()
endfunction()

function(_fatlink_check_range keyword least most)
  if(DEFINED arg_${keyword} AND (NOT arg_${keyword} MATCHES "^[0-9]+$" OR arg_${keyword} LESS ${least}
     OR arg_${keyword} GREATER ${most}))
    message(FATAL_ERROR "${caller}: ${keyword} ${arg_${keyword}} is not a number from ${least} to ${most}")
  endif()
endfunction()

# The defaults: all links that a layer can serve. As host/cli/cache.cpp.
macro(_fatlink_set_links)
  if(arg_MODE MATCHES "^(ptx|sass)$" AND "ptx" IN_LIST arg_EMIT)
    message(FATAL_ERROR "${caller}: EMIT ptx has no effect with MODE ${arg_MODE}: only lto mode emits PTX")
  elseif(arg_MODE STREQUAL "both" AND "${arg_EMIT}" STREQUAL "ptx")
    message(FATAL_ERROR "${caller}: EMIT ptx with MODE both: only lto mode emits PTX; nothing to link in ptx mode: "
      "choose MODE lto, or EMIT cubin ptx")
  endif()
  if(NOT arg_MODE AND "${arg_EMIT}" STREQUAL "ptx")
    set(arg_MODE lto)
  elseif(NOT arg_MODE)
    set(arg_MODE both)
  endif()
  if(NOT arg_EMIT AND arg_MODE MATCHES "^(ptx|sass)$")
    set(arg_EMIT cubin)
  elseif(NOT arg_EMIT)
    set(arg_EMIT cubin ptx)
  endif()
endmacro()

# As host/src/linker/link_options.cpp.
function(_fatlink_check_effects)
  set(lto_only VARIABLES DROP_UNUSED_VARIABLES FTZ PREC_DIV PREC_SQRT FMA LATEST_NVVM NVVM)
  set(cubin_only ALLOW_CALLS MAX_REGISTERS LINE_INFO DEBUG STACK_PROTECTOR PTXAS)
  if(arg_MODE STREQUAL "sass")
    _fatlink_refuse_options("in sass mode, which compiles nothing: choose MODE lto"
      ${lto_only} ${cubin_only} OPTIMIZE FAST_COMPILE THREADS)
  elseif(NOT arg_MODE STREQUAL "lto")
    _fatlink_refuse_options("in ptx mode: add MODE lto" ${lto_only})
  endif()
  if("ptx" IN_LIST arg_EMIT)
    _fatlink_refuse_options("on emitted PTX: add EMIT cubin" ${cubin_only})
  endif()
endfunction()

function(_fatlink_refuse_options where)
  foreach(keyword IN LISTS ARGN)
    if(NOT "${arg_${keyword}}" MATCHES "^(FALSE)?$")
      message(FATAL_ERROR "${caller}: ${keyword} has no effect ${where}")
    endif()
  endforeach()
endfunction()

# As host/src/linker/link_options.cpp.
function(_fatlink_check_pairs)
  if(DEFINED arg_OPTIMIZE AND DEFINED arg_FAST_COMPILE)
    message(FATAL_ERROR "${caller}: OPTIMIZE and FAST_COMPILE exclude each other")
  elseif(arg_DEBUG AND DEFINED arg_FAST_COMPILE)
    message(FATAL_ERROR "${caller}: FAST_COMPILE and DEBUG exclude each other")
  elseif(arg_DEBUG AND "${arg_OPTIMIZE}" STREQUAL "3")
    message(FATAL_ERROR "${caller}: OPTIMIZE 3 and DEBUG exclude each other")
  elseif(arg_DEBUG AND arg_LINE_INFO)
    message(FATAL_ERROR "${caller}: LINE_INFO has no effect together with DEBUG, which includes it")
  elseif(arg_DROP_UNUSED_VARIABLES AND arg_VARIABLES)
    message(FATAL_ERROR "${caller}: DROP_UNUSED_VARIABLES has no effect together with VARIABLES")
  endif()
endfunction()

# The flags of `fatlink cache warm`.
function(_fatlink_link_option_flags flags_out)
  list(JOIN arg_EMIT "," emit)
  set(flags --mode "${arg_MODE}" --emit "${emit}")
  foreach(keyword IN LISTS _fatlink_link_switches)
    if(arg_${keyword})
      string(TOLOWER "${keyword}" name)
      string(REPLACE "_" "-" name "${name}")
      list(APPEND flags "--${name}")
    endif()
  endforeach()
  foreach(keyword IN LISTS _fatlink_link_values)
    if(DEFINED arg_${keyword} AND NOT keyword STREQUAL "MODE")
      string(TOLOWER "${keyword}" name)
      string(REPLACE "_" "-" name "${name}")
      list(APPEND flags "--${name}" "${arg_${keyword}}")
    endif()
  endforeach()
  list(TRANSFORM arg_KERNELS PREPEND "--kernel=")
  list(TRANSFORM arg_VARIABLES PREPEND "--keep-variable=")
  list(TRANSFORM arg_PTXAS PREPEND "--ptxas=")
  list(TRANSFORM arg_NVVM PREPEND "--nvvm=")
  list(APPEND flags ${arg_KERNELS} ${arg_VARIABLES} ${arg_PTXAS} ${arg_NVVM})
  set(${flags_out} "${flags}" PARENT_SCOPE)
endfunction()
