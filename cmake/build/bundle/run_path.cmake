# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_run_path
----------------
Makes a target search the install tree's library folder for shared libraries, also after the tree was moved.

  fatlink_run_path(<target> <install folder>)

The path is a DT_RPATH: unlike a DT_RUNPATH it also applies to the dependencies of bundled libraries, and it is searched before
``LD_LIBRARY_PATH``. The binaries of the build tree have the same path, so installation does not edit them.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_run_path target folder)
  if(ARGN)
    message(FATAL_ERROR "fatlink_run_path(${target}): unknown argument: ${ARGN}")
  endif()
  # A path between absolute folders would be wrong after a move.
  foreach(path IN ITEMS "${folder}" "${CMAKE_INSTALL_LIBDIR}")
    if(IS_ABSOLUTE "${path}")
      message(FATAL_ERROR "FATLINK_BUNDLE_LIBRARIES: ${path}: the install folders must be relative")
    endif()
  endforeach()
  file(RELATIVE_PATH relative_path "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
  set(path "$ORIGIN")
  if(relative_path)
    set(path "$ORIGIN/${relative_path}")
  endif()
  set_target_properties(${target} PROPERTIES
    INSTALL_RPATH "${path}" BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH OFF)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()
