# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_nvcc_version
--------------------
Gives the version of ``CUDAToolkit_NVCC_EXECUTABLE``, for example ``13.0.88``. This is the only place that runs
``nvcc --version``. The result is cached until nvcc is another file or was modified.

  fatlink_nvcc_version(<out-version> [<out-text>])

``<out-version>`` is empty when nvcc prints no version; ``<out-text>`` is then what it printed. ``CUDAToolkit_VERSION``
cannot be used instead: it is set only in the directory that calls ``find_package(CUDAToolkit)``.
#]=======================================================================]
include_guard(GLOBAL)

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
