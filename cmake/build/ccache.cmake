# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
ccache
------
Compiles C and C++ with ccache where it is installed, so that a source that was compiled before, in this or another folder
of builds, takes a moment.

``FATLINK_USE_CCACHE``
  Option, default on. A launcher that is stated (``CMAKE_CXX_COMPILER_LAUNCHER``) is left as it is.
#]=======================================================================]
option(FATLINK_USE_CCACHE "Compile with ccache, if it is installed" ON)
mark_as_advanced(FATLINK_USE_CCACHE)
find_program(FATLINK_CCACHE ccache)
mark_as_advanced(FATLINK_CCACHE)
if(FATLINK_USE_CCACHE AND FATLINK_CCACHE)
  foreach(language IN ITEMS C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      # The dependencies come from the compiler's own list, so that a first compile does not preprocess twice.
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${FATLINK_CCACHE}")
    endif()
  endforeach()
endif()
