# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
install_layout
--------------
The install folders of GNUInstallDirs, as the binaries need them to find each other's files.

  fatlink_relative_install_folders()
  fatlink_install_way(<from> <to> <out-var>)
  fatlink_write_install_layout(<header>)

``fatlink_relative_install_folders``
  Rewrites an absolute ``CMAKE_INSTALL_<dir>`` that lies in ``CMAKE_INSTALL_PREFIX`` as relative to the
  prefix, in the caller's scope: such a tree can be moved, and ``cmake --install --prefix`` works.
``fatlink_install_way``
  The path from one folder to another: relative where both are in the prefix, else the absolute path of
  ``<to>``.
``fatlink_write_install_layout``
  Writes the constants that ``detail/installed_files.cpp`` reads.
#]=======================================================================]
include_guard(GLOBAL)

macro(fatlink_relative_install_folders)
  foreach(_fatlink_name IN ITEMS BINDIR LIBDIR LIBEXECDIR INCLUDEDIR DATAROOTDIR DATADIR MANDIR DOCDIR)
    cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${CMAKE_INSTALL_${_fatlink_name}}" NORMALIZE _fatlink_inside)
    if(_fatlink_inside AND IS_ABSOLUTE "${CMAKE_INSTALL_${_fatlink_name}}")
      cmake_path(RELATIVE_PATH CMAKE_INSTALL_${_fatlink_name} BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
    endif()
  endforeach()
  unset(_fatlink_name)
  unset(_fatlink_inside)
endmacro()

function(fatlink_install_way from to out)
  if(IS_ABSOLUTE "${from}" AND NOT IS_ABSOLUTE "${to}")
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  elseif(NOT IS_ABSOLUTE "${to}")
    file(RELATIVE_PATH to "/${from}" "/${to}")
  endif()
  string(REGEX REPLACE "/$" "" to "${to}")
  set(${out} "${to}" PARENT_SCOPE)
endfunction()

function(fatlink_write_install_layout header)
  set(programs "${CMAKE_INSTALL_BINDIR}")
  set(libraries "${CMAKE_INSTALL_LIBDIR}")
  set(helper "${CMAKE_INSTALL_LIBEXECDIR}")
  set(data "${CMAKE_INSTALL_DATADIR}/fatlink")
  foreach(way IN ITEMS programs_to_helper programs_to_data libraries_to_helper libraries_to_data
                       helper_to_data)
    string(REPLACE "_to_" ";" ends "${way}")
    list(GET ends 0 from)
    list(GET ends 1 to)
    fatlink_install_way("${${from}}" "${${to}}" ${way})
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/host/src/install_layout.hpp.in" "${header}" @ONLY)
endfunction()
