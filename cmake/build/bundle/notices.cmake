# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_install_notices
-----------------------
Installs the licences of header-only libraries that are compiled into fatlink's binaries. Those licences require it.

  fatlink_install_notices(<component> <header>...)

Each text is the copyright file of the Debian package that has the header, else ``<folder of the header>`` in
``FATLINK_BUNDLE_LICENSES``. A missing text is a warning.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/library_license.cmake")

function(fatlink_install_notices component)
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH name)
    unset(path)  # find_file does not search when the variable is set
    find_file(path "${header}" NO_CACHE)
    set(package "")
    if(path)
      file(REAL_PATH "${path}" real)
      _fatlink_debian_package("${real}" package)
    endif()
    set(text "/usr/share/doc/${package}/copyright")
    if(package STREQUAL "" OR NOT EXISTS "${text}")
      set(text "${FATLINK_BUNDLE_LICENSES}/${name}")
    endif()
    if(EXISTS "${text}" AND NOT IS_DIRECTORY "${text}")
      install(FILES "${text}" RENAME "${name}.txt" COMPONENT "${component}"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fatlink-${component}/third-party")
    else()
      message(WARNING "fatlink: no licence text of ${header} was found, and packages need it. Put it "
        "in FOLDER/${name} and name the folder with -DFATLINK_BUNDLE_LICENSES=FOLDER.")
    endif()
  endforeach()
endfunction()
