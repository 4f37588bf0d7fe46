# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_toolkit_root
--------------------
The folder of the toolkit that ``CUDAToolkit_NVCC_EXECUTABLE`` belongs to, as nvcc itself says: what is
found as nvcc may be a script elsewhere that starts it.

  fatlink_toolkit_root(<caller> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_toolkit_root caller out)
  if(NOT FATLINK_NVCC_OF_ROOT STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    # As FindCUDAToolkit asks; the source need not exist.
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -v __dummy
      OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT said MATCHES "TOP=([^\r\n]+)")
      message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} -v does not say where it is: ${said}")
    endif()
    file(REAL_PATH "${CMAKE_MATCH_1}" root)
    set(FATLINK_TOOLKIT_ROOT "${root}" CACHE INTERNAL "")
    set(FATLINK_NVCC_OF_ROOT "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "")
  endif()
  set(${out} "${FATLINK_TOOLKIT_ROOT}" PARENT_SCOPE)
endfunction()
