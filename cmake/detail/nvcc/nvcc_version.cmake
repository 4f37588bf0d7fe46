# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_nvcc_version
--------------------
The version of ``CUDAToolkit_NVCC_EXECUTABLE``, which nvcc itself is asked for once: ``CUDAToolkit_VERSION``
is known in the folder of its ``find_package`` alone.

  fatlink_nvcc_version(<caller> <out-var>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_nvcc_version caller out)
  if(NOT FATLINK_NVCC_OF_VERSION STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --version
      OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
    if(NOT result EQUAL 0 OR NOT said MATCHES " V([0-9]+[.][0-9]+[.][0-9]+)")
      message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} --version does not say one: ${said}")
    endif()
    set(FATLINK_NVCC_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "")
    set(FATLINK_NVCC_OF_VERSION "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "")
  endif()
  set(${out} "${FATLINK_NVCC_VERSION}" PARENT_SCOPE)
endfunction()
