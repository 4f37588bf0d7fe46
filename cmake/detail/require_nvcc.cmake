# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_require_nvcc
--------------------
Stops configuration where there is no ``CUDAToolkit_NVCC_EXECUTABLE``, and says how to name one.

  fatlink_require_nvcc(<caller>)
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_require_nvcc caller)
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "${caller}: no nvcc was found. Name the folder of CUDA 13's toolkit: "
      "-DCUDAToolkit_ROOT=FOLDER, or \$CUDA_HOME")
  endif()
endfunction()
