# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_stated_path
-------------------
Gives the path that the compiler is told for a source. It does not depend on the folder of the project, and is
unique within the project.

  fatlink_stated_path(<source> <out-var>)

The path is ``/<project>/<path in the project>``. It is empty if this nvcc rejects ``-Xcicc``, which is undocumented
(CUDA 13.0 has it); fatbins then depend on the folder in which they are built.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_stated_path source out)
  set(${out} "" PARENT_SCOPE)
  if(NOT FATLINK_STATED_PATH_NVCC STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/fatlink_probe.cu")
    file(WRITE "${probe}" "")
    execute_process(
      COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --dryrun -ptx -Xcicc --orig_src_path_name
              -Xcicc /probe.cu "${probe}"
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    set(FATLINK_STATED_PATH_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "The nvcc of FATLINK_STATED_PATH_STATUS")
    set(FATLINK_STATED_PATH_STATUS "${status}" CACHE INTERNAL "0 if nvcc accepts a path for the source")
    if(NOT status EQUAL 0)
      message(WARNING "${CUDAToolkit_NVCC_EXECUTABLE} does not accept -Xcicc: the bytes of fatbins will depend on "
        "the folder in which they are built")
    endif()
  endif()
  if(NOT FATLINK_STATED_PATH_STATUS EQUAL 0)
    return()
  endif()
  # Generated sources are in the build folder, which may be inside or outside of the project.
  set(base "${PROJECT_SOURCE_DIR}")
  set(kind "")
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" NORMALIZE generated)
  if(generated)
    set(base "${PROJECT_BINARY_DIR}")
    set(kind "/generated")
  endif()
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${base}" OUTPUT_VARIABLE path)
  string(REGEX REPLACE "[^A-Za-z0-9_./+-]" "_" path "/${PROJECT_NAME}${kind}/${path}")
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
