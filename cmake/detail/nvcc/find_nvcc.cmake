# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
find_nvcc
---------
Finds nvcc and its version in a project that enables no language (``FindCUDAToolkit`` needs C or C++). Sets
``CUDAToolkit_NVCC_EXECUTABLE`` and ``CUDAToolkit_VERSION`` unless they are set. Searches ``CUDAToolkit_ROOT``,
``CUDA_HOME``, ``CUDA_PATH``, ``PATH`` and ``/usr/local/cuda``.
#]=======================================================================]
include("${CMAKE_CURRENT_LIST_DIR}/nvcc_version.cmake")

find_program(CUDAToolkit_NVCC_EXECUTABLE nvcc
  HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(CUDAToolkit_NVCC_EXECUTABLE AND NOT CUDAToolkit_VERSION)
  fatlink_nvcc_version(CUDAToolkit_VERSION)
endif()
