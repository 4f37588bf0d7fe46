# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
install_layout
--------------
Prepares the install folders of GNUInstallDirs, so that the binaries find each other's files.

  fatlink_relative_install_folders()
  fatlink_relative_install_path(<from> <to> <out-var>)
  fatlink_write_install_layout(<header>)

``fatlink_relative_install_folders``
  Makes each absolute ``CMAKE_INSTALL_<dir>`` inside of ``CMAKE_INSTALL_PREFIX`` relative to the prefix, in the
  caller's scope, so that the install tree can be moved and ``cmake --install --prefix`` works.
``fatlink_relative_install_path``
  Gives the path from one folder to another: relative if both are in the prefix, else the absolute path of ``<to>``.
``fatlink_write_install_layout``
  Writes the header with the constants that ``environment.cpp`` uses.
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

function(fatlink_relative_install_path start end path_out)
  if(IS_ABSOLUTE "${start}" AND NOT IS_ABSOLUTE "${end}")
    cmake_path(ABSOLUTE_PATH end BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  elseif(NOT IS_ABSOLUTE "${end}")
    file(RELATIVE_PATH end "/${start}" "/${end}")
  endif()
  string(REGEX REPLACE "/$" "" end "${end}")
  set(${path_out} "${end}" PARENT_SCOPE)
endfunction()

function(fatlink_write_install_layout header)
  set(programs "${CMAKE_INSTALL_BINDIR}")
  set(libraries "${CMAKE_INSTALL_LIBDIR}")
  set(helper "${CMAKE_INSTALL_LIBEXECDIR}")
  set(data "${CMAKE_INSTALL_DATADIR}/fatlink")
  foreach(path IN ITEMS programs_to_helper programs_to_data libraries_to_helper libraries_to_data helper_to_data)
    string(REPLACE "_to_" ";" folders "${path}")
    list(GET folders 0 start)
    list(GET folders 1 end)
    fatlink_relative_install_path("${${start}}" "${${end}}" ${path})
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/host/src/install_layout.hpp.in" "${header}" @ONLY)
endfunction()
