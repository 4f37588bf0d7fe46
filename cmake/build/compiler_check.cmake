# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
compiler_check
--------------
Stops the configuration with a compiler that vectorises the reference device's integer arithmetic wrongly, as g++ 12 does
in one form that the reference device therefore does not use (compiler_check.cpp). Not when cross-compiling.
#]=======================================================================]
include_guard(GLOBAL)

# try_run stores its results in the cache, where a variable of the same name would hide them.
if(NOT CMAKE_CROSSCOMPILING AND NOT DEFINED FATLINK_HAS_SOUND_COMPILER)
  try_run(FATLINK_COMPILER_CHECK_STATUS FATLINK_COMPILER_CHECK_COMPILES
    "${CMAKE_BINARY_DIR}/compiler_check" "${CMAKE_CURRENT_LIST_DIR}/compiler_check.cpp"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/host/src" COMPILE_DEFINITIONS -O3 -DNDEBUG CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    COMPILE_OUTPUT_VARIABLE output)
  set(compiles "${FATLINK_COMPILER_CHECK_COMPILES}")
  set(status "${FATLINK_COMPILER_CHECK_STATUS}")
  unset(FATLINK_COMPILER_CHECK_COMPILES CACHE)
  unset(FATLINK_COMPILER_CHECK_STATUS CACHE)
  if(NOT compiles)
    message(FATAL_ERROR "fatlink: ${CMAKE_CXX_COMPILER} does not compile compiler_check.cpp; "
                        "fatlink needs g++ 12 or newer.\n${output}")
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR
      "fatlink: ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) computes integers wrongly where "
      "it vectorises (compiler_check.cpp). Use another compiler, or -DCMAKE_CXX_FLAGS=-fno-tree-vectorize.")
  endif()
  set(FATLINK_HAS_SOUND_COMPILER TRUE CACHE INTERNAL "The compiler vectorises integer arithmetic correctly")
endif()
