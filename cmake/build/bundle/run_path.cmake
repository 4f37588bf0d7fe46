# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_run_path
----------------
Makes a target look for shared libraries in the install tree's library folder, wherever it is moved.

  fatlink_run_path(<target> <folder it is installed in>)

The path is a DT_RPATH: muParser's own needs are searched by it too, which they would not be by a
DT_RUNPATH, and the archive's libraries are taken before those of ``LD_LIBRARY_PATH``. The build tree has
the same one: nothing is edited at installation.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_run_path target folder)
  if(ARGN)
    message(FATAL_ERROR "fatlink_run_path(${target}): unknown argument: ${ARGN}")
  endif()
  # No path from one of these is right wherever the tree is moved.
  foreach(path IN ITEMS "${folder}" "${CMAKE_INSTALL_LIBDIR}")
    if(IS_ABSOLUTE "${path}")
      message(FATAL_ERROR "FATLINK_BUNDLE_LIBRARIES: ${path}: the install folders must be relative")
    endif()
  endforeach()
  file(RELATIVE_PATH to_libraries "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
  set(path "$ORIGIN")
  if(to_libraries)
    set(path "$ORIGIN/${to_libraries}")
  endif()
  set_target_properties(${target} PROPERTIES
    INSTALL_RPATH "${path}" BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH OFF)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()
