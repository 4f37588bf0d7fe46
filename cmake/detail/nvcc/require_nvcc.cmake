# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_require_nvcc
--------------------
Stops configuration where there is no ``CUDAToolkit_NVCC_EXECUTABLE``, or where it is not of CUDA 13, and says how
to name one.

  fatlink_require_nvcc(<caller>)
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/nvcc_version.cmake")

function(fatlink_require_nvcc caller)
  set(remedy "Name the folder of CUDA 13's toolkit: -DCUDAToolkit_ROOT=FOLDER, or \$CUDA_HOME")
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "${caller}: no nvcc was found. ${remedy}")
  endif()
  fatlink_nvcc_version("${caller}" version)
  if(NOT version MATCHES "^13[.]")
    unset(FATLINK_NVCC_OF_VERSION CACHE)  # the toolkit may be upgraded where it is
    message(FATAL_ERROR "${caller}: ${CUDAToolkit_NVCC_EXECUTABLE} is of CUDA ${version}; fatlink needs CUDA 13. "
      "${remedy}, in a new build folder")
  endif()
endfunction()
