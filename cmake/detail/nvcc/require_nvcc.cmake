# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_require_nvcc
--------------------
Stops configuration unless ``CUDAToolkit_NVCC_EXECUTABLE`` is an nvcc of CUDA 13. The message says how to name
one.

  fatlink_require_nvcc(<caller> [<out-version>])
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/nvcc_version.cmake")

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
