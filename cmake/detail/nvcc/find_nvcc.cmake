# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
find_nvcc
---------
Finds nvcc and its version, without a language enabled (``FindCUDAToolkit`` needs C or C++). Sets
``CUDAToolkit_NVCC_EXECUTABLE`` and ``CUDAToolkit_VERSION`` unless they are set; looks in
``CUDAToolkit_ROOT``, ``CUDA_HOME``, ``CUDA_PATH``, the ``PATH``, ``/usr/local/cuda``.
#]=======================================================================]
find_program(CUDAToolkit_NVCC_EXECUTABLE nvcc
  HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(CUDAToolkit_NVCC_EXECUTABLE AND NOT CUDAToolkit_VERSION)
  execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --version
    OUTPUT_VARIABLE _fatlink_nvcc ERROR_QUIET)
  if(_fatlink_nvcc MATCHES " V([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(CUDAToolkit_VERSION "${CMAKE_MATCH_1}")
  endif()
  unset(_fatlink_nvcc)
endif()
