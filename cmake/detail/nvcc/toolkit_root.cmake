# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_toolkit_root
--------------------
Gives the root folder of the toolkit that ``CUDAToolkit_NVCC_EXECUTABLE`` belongs to, as nvcc reports it: the
executable may be a script outside of the toolkit.

  fatlink_toolkit_root(<caller> <out-var>)

Stops configuration when nvcc does not report the folder.
#]=======================================================================]
include_guard(GLOBAL)

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
    set(FATLINK_TOOLKIT_ROOT "${root}" CACHE INTERNAL "Root folder of the toolkit of nvcc")
    set(FATLINK_TOOLKIT_ROOT_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "The nvcc of FATLINK_TOOLKIT_ROOT")
  endif()
  set(${root_out} "${FATLINK_TOOLKIT_ROOT}" PARENT_SCOPE)
endfunction()
