# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_stated_path
-------------------
The path that the compiler is told a source has: the same in whatever folder the project lies, another
for each source of it.

  fatlink_stated_path(<source> <out-var>)

``/<project>/<path in the project>``; nothing where this nvcc takes none (its ``-Xcicc`` is not
documented; 13.0 has it), and then fatbins depend on where they are built.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_stated_path source out)
  set(${out} "" PARENT_SCOPE)
  if(NOT FATLINK_NVCC_PROBED STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/fatlink_probe.cu")
    file(WRITE "${probe}" "")
    execute_process(
      COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --dryrun -ptx -Xcicc --orig_src_path_name
              -Xcicc /probe.cu "${probe}"
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    set(FATLINK_NVCC_PROBED "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "")
    set(FATLINK_NVCC_PROBE "${result}" CACHE INTERNAL "0: nvcc can be told a source's path")
    if(NOT result EQUAL 0)
      message(WARNING "${CUDAToolkit_NVCC_EXECUTABLE} takes no -Xcicc: fatbins will be other bytes in "
        "another folder")
    endif()
  endif()
  if(NOT FATLINK_NVCC_PROBE EQUAL 0)
    return()
  endif()
  # What is generated lies in the build folder, which may be in the project's or anywhere.
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
