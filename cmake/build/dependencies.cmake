# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
dependencies
------------
Finds the libraries and tools that fatlink is built with. A missing one stops configuration; the message names the
Debian package that has it (``scripts/bootstrap`` installs all of them).
#]=======================================================================]

# fatlink_require(<find_package arguments> DEBIAN <package>)
macro(fatlink_require package)
  cmake_parse_arguments(_require "" "DEBIAN" "COMPONENTS" ${ARGN})
  if(_require_COMPONENTS)
    find_package(${package} QUIET COMPONENTS ${_require_COMPONENTS})
  else()
    find_package(${package} ${_require_UNPARSED_ARGUMENTS} QUIET)
  endif()
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "fatlink: ${package} was not found. Install ${_require_DEBIAN}, "
      "or run scripts/bootstrap, which installs everything.")
  endif()
endmacro()

fatlink_require(CLI11 DEBIAN libcli11-dev)
fatlink_require(nlohmann_json 3.9 DEBIAN nlohmann-json3-dev)
fatlink_require(fmt DEBIAN libfmt-dev)
fatlink_require(Threads DEBIAN libc6-dev)
fatlink_require(PkgConfig DEBIAN pkg-config)
foreach(module IN ITEMS libzstd liblz4 nettle)
  pkg_check_modules(${module} QUIET IMPORTED_TARGET ${module})
  if(NOT ${module}_FOUND)
    message(FATAL_ERROR
      "fatlink: ${module} was not found. Install ${module}-dev, "
      "or run scripts/bootstrap, which installs everything.")
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/../detail/nvcc.cmake")
# The CUDA Toolkit: nvcc for the fatbins, and headers. None of its libraries is linked.
if(NOT CUDAToolkit_ROOT AND EXISTS "${PROJECT_SOURCE_DIR}/.cuda/bin/nvcc")
  set(CUDAToolkit_ROOT "${PROJECT_SOURCE_DIR}/.cuda")
endif()
# FindCUDAToolkit of CMake 3.25 fails for projects that require CMake 3.25: it deprecates the target of a library that
# CUDA 13 no longer has. So a lower minimum is set around the call.
set(fatlink_minimum "${CMAKE_MINIMUM_REQUIRED_VERSION}")
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
# The version of nvcc is checked first: find_package reports an incomplete or other toolkit only as not found.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_NVCC_EXECUTABLE)
  fatlink_require_nvcc(fatlink)
endif()
fatlink_require(CUDAToolkit 13 DEBIAN "the CUDA Toolkit 13")
set(CMAKE_MINIMUM_REQUIRED_VERSION "${fatlink_minimum}")
# Without NVTX, which some installations of the toolkit leave out, tools see no ranges of fatlink.
find_path(FATLINK_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "The folder that has nvtx3/")
if(NOT FATLINK_NVTX_INCLUDE_DIR)
  message(STATUS "fatlink: built without NVTX ranges: nvtx3/nvToolsExt.h was not found (-DFATLINK_NVTX_INCLUDE_DIR=FOLDER)")
endif()

# The documentation is made, and tests run, with the first of PATH's python3 and the system's that has NumPy, which hundreds
# of tests need; with PATH's if none has.
foreach(candidate IN ITEMS python3 /usr/bin/python3)
  if(NOT Python3_EXECUTABLE)
    execute_process(COMMAND "${candidate}" -c "import sys, numpy; print(sys.executable)"
                    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0)
      set(Python3_EXECUTABLE "${output}" CACHE FILEPATH "The Python that makes the documentation and runs the tests")
    endif()
  endif()
endforeach()
