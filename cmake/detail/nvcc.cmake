# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
nvcc
----
Finds nvcc and its toolkit, and knows the options that fatlink passes to it. nvcc is ``CUDAToolkit_NVCC_EXECUTABLE``.

  fatlink_find_nvcc()
  fatlink_nvcc_version(<out-version> [<out-text>])
  fatlink_require_nvcc(<caller> [<out-version>])
  fatlink_toolkit_root(<caller> <out-var>)
  fatlink_toolkit_library(<caller> <name> <out-var>)
  fatlink_device_includes(<out-folder>)
  fatlink_check_nvcc_options(<caller> <options>)
  fatlink_float_flags(<options> <out-var>)
  fatlink_line_options(<options> <out-options> <out-has-lines>)
  fatlink_base64(<text> <out-var>)

``fatlink_find_nvcc``
  Finds nvcc and its version in a project that enables no language (``FindCUDAToolkit`` needs C or C++). Sets
  ``CUDAToolkit_NVCC_EXECUTABLE`` and ``CUDAToolkit_VERSION`` unless they are set. Searches ``CUDAToolkit_ROOT``,
  ``CUDA_HOME``, ``CUDA_PATH``, ``PATH`` and ``/usr/local/cuda``.
``fatlink_nvcc_version``
  Gives the version of nvcc, for example ``13.0.88``. This is the only place that runs ``nvcc --version``. The result is
  cached until nvcc is another file or was modified. ``<out-version>`` is empty when nvcc prints no version;
  ``<out-text>`` is then what it printed. ``CUDAToolkit_VERSION`` cannot be used instead: it is set only in the
  directory that calls ``find_package(CUDAToolkit)``.
``fatlink_require_nvcc``
  Stops configuration unless nvcc is of CUDA 13. The message says how to name one.
``fatlink_toolkit_root``
  Gives the root folder of the toolkit that nvcc belongs to, as nvcc reports it: the executable may be a script outside
  of the toolkit. Stops configuration when nvcc does not report the folder.
``fatlink_toolkit_library``
  Gives the file ``lib<name>.so.13`` of nvcc's toolkit, even if the machine has others: in ``lib64``, ``lib``, or the folder
  of nvcc's target, such as ``targets/x86_64-linux/lib`` or ``targets/sbsa-linux/lib``. In a cross build, programs of the
  build load the library, so folders in ``CMAKE_SYSROOT`` and ``CMAKE_FIND_ROOT_PATH`` are searched first. Empty if there is
  none.
``fatlink_device_includes``
  Gives the folder of the headers ``<fatlink/....cuh>`` for device code: installed with the runtime, or in fatlink's own
  tree.
``fatlink_check_nvcc_options``
  Stops with the name of an option of ``fatlink_add_fatbin`` that sets an architecture or an output, or compiles for a
  debugger.
``fatlink_float_flags``
  Gives the float flags that result from the options, in the spelling of fatbin entries.
``fatlink_line_options``
  Replaces options for line information by the equivalent options of nvcc's compiler, cicc. With ``-lineinfo`` nvcc
  passes ``--ident=<source>`` to fatbinary as the last option, which replaces fatlink's ident. ``-Xcicc`` gives the same
  PTX and LTO-IR, and the same cubins after a link (observed with CUDA 13.0).
``fatlink_base64``
  Encodes a text as base64 (RFC 4648), for the option that sets the ident. CMake has no command for it.
#]=======================================================================]
include_guard(GLOBAL)

macro(fatlink_find_nvcc)
  find_program(CUDAToolkit_NVCC_EXECUTABLE nvcc
    HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(CUDAToolkit_NVCC_EXECUTABLE AND NOT CUDAToolkit_VERSION)
    fatlink_nvcc_version(CUDAToolkit_VERSION)
  endif()
endmacro()

function(fatlink_nvcc_version version_out)
  file(TIMESTAMP "${CUDAToolkit_NVCC_EXECUTABLE}" modified)
  set(key "${CUDAToolkit_NVCC_EXECUTABLE} ${modified}")
  if(NOT FATLINK_NVCC_VERSION_KEY STREQUAL key)
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --version
      OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT text MATCHES " V([0-9]+[.][0-9]+[.][0-9]+)")
      set(${version_out} "" PARENT_SCOPE)
      if(ARGC GREATER 1)
        set(${ARGV1} "${text}" PARENT_SCOPE)
      endif()
      return()
    endif()
    set(FATLINK_NVCC_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "Version of nvcc")
    set(FATLINK_NVCC_VERSION_KEY "${key}" CACHE INTERNAL "The nvcc of FATLINK_NVCC_VERSION")
  endif()
  set(${version_out} "${FATLINK_NVCC_VERSION}" PARENT_SCOPE)
endfunction()

function(fatlink_require_nvcc caller)
  set(remedy "Name the folder of a CUDA 13 toolkit with -DCUDAToolkit_ROOT=FOLDER or \$CUDA_HOME")
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "${caller}: no nvcc was found. ${remedy}")
  endif()
  fatlink_nvcc_version(version text)
  if(NOT version)
    message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} --version prints no version: ${text}. ${remedy}")
  endif()
  if(NOT version MATCHES "^13[.]")
    unset(FATLINK_NVCC_VERSION_KEY CACHE)  # the toolkit may be upgraded within the same second
    message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} is of CUDA ${version}; fatlink needs CUDA 13. "
      "${remedy}, in a new build folder")
  endif()
  if(ARGC GREATER 1)
    set(${ARGV1} "${version}" PARENT_SCOPE)
  endif()
endfunction()

function(fatlink_toolkit_root caller root_out)
  if(NOT FATLINK_TOOLKIT_ROOT_NVCC STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    # The same query as FindCUDAToolkit's; the source file need not exist.
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -v __dummy
      OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT text MATCHES "TOP=([^\r\n]+)")
      message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} -v does not print its toolkit's folder (TOP=): "
        "${text}")
    endif()
    file(REAL_PATH "${CMAKE_MATCH_1}" root)
    string(REGEX MATCHALL "_TARGET_DIR_=[^\r\n]+" targets "${text}")
    list(POP_BACK targets target)  # the others are empty
    string(REPLACE "_TARGET_DIR_=" "" target "${target}")
    set(FATLINK_TOOLKIT_TARGET "${target}" CACHE INTERNAL "The folder of nvcc's target in its toolkit")
    set(FATLINK_TOOLKIT_ROOT "${root}" CACHE INTERNAL "Root folder of the toolkit of nvcc")
    set(FATLINK_TOOLKIT_ROOT_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "The nvcc of FATLINK_TOOLKIT_ROOT")
  endif()
  set(${root_out} "${FATLINK_TOOLKIT_ROOT}" PARENT_SCOPE)
endfunction()

function(fatlink_toolkit_library caller name library_out)
  fatlink_toolkit_root("${caller}" root)
  unset(path)  # find_library does not search when the variable is set
  find_library(path NAMES lib${name}.so.13 PATHS "${root}/lib64" "${root}/lib" "${root}/${FATLINK_TOOLKIT_TARGET}/lib"
    NO_DEFAULT_PATH NO_CACHE)
  if(NOT path)
    set(path "")
  endif()
  set(${library_out} "${path}" PARENT_SCOPE)
endfunction()

function(fatlink_device_includes folder_out)
  cmake_path(SET folder NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../kernels/include")
  if(FATLINK_SHARE_DIR)
    set(folder "${FATLINK_SHARE_DIR}/include")
  endif()
  set(${folder_out} "${folder}" PARENT_SCOPE)
endfunction()

function(fatlink_check_nvcc_options caller options)
  foreach(option IN LISTS options)
    if(option MATCHES "^(--?arch|--?gencode|--?gpu-|--?code|-G$|--device-debug|-o|--output|-c$|-dc$|-dlto|--fatbin|-fatbin|-cubin|-ptx)")
      message(FATAL_ERROR "${caller}: OPTIONS ${option} is not allowed: it changes what the fatbin holds; use "
        "ARCHITECTURES, SASS or OUTPUT_NAME, or remove it")
    endif()
  endforeach()
endfunction()

function(fatlink_float_flags options out)
  set(ftz 0)
  set(prec_div 1)
  set(prec_sqrt 1)
  set(fmad 1)
  foreach(option IN LISTS options)
    if(option MATCHES "^--?use_fast_math$")
      set(ftz 1)
      set(prec_div 0)
      set(prec_sqrt 0)
      set(fmad 1)
    elseif(option MATCHES "^--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)$")
      string(REPLACE "-" "_" name "${CMAKE_MATCH_1}")
      string(REPLACE "true" "1" value "${CMAKE_MATCH_2}")
      string(REPLACE "false" "0" value "${value}")
      set(${name} ${value})
    endif()
  endforeach()
  set(${out} "-ftz=${ftz} -prec_div=${prec_div} -prec_sqrt=${prec_sqrt} -fmad=${fmad}" PARENT_SCOPE)
endfunction()

function(fatlink_line_options options options_out has_lines_out)
  set(replaced "")
  set(has_lines FALSE)
  foreach(option IN LISTS options)
    if(option MATCHES "^(-lineinfo|--?generate-line-info)$")
      list(APPEND replaced -Xcicc -generate-line-info)
      set(has_lines TRUE)
    elseif(option MATCHES "^(-src-in-ptx|--?source-in-ptx)$")
      list(APPEND replaced -Xcicc -show-src)
    else()
      list(APPEND replaced "${option}")
    endif()
  endforeach()
  set(${options_out} "${replaced}" PARENT_SCOPE)
  set(${has_lines_out} ${has_lines} PARENT_SCOPE)
endfunction()

function(fatlink_base64 text out)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(HEX "${text}" hex)
  string(LENGTH "${hex}" length)
  set(encoded "")
  set(offset 0)
  while(offset LESS length)
    string(SUBSTRING "${hex}" ${offset} 6 group)
    math(EXPR offset "${offset} + 6")
    string(LENGTH "${group}" digits)
    string(SUBSTRING "${group}000000" 0 6 group)
    math(EXPR keep "${digits} * 4 / 6 + 1")  # 2, 4, 6 hex digits: 2, 3, 4 base64 digits
    if(digits EQUAL 6)
      set(keep 4)
    endif()
    foreach(shift IN ITEMS 18 12 6 0)
      if(keep GREATER 0)
        math(EXPR index "(0x${group} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 digit)
        string(APPEND encoded "${digit}")
      else()
        string(APPEND encoded "=")
      endif()
      math(EXPR keep "${keep} - 1")
    endforeach()
  endwhile()
  set(${out} "${encoded}" PARENT_SCOPE)
endfunction()
