# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_bundle_libraries
------------------------
Makes an archive that runs on a machine without other packages: installs the shared libraries that fatlink uses,
with their licences, and sets the run path of the binaries.

  fatlink_bundle_libraries()

``FATLINK_BUNDLE_LIBRARIES``
  Option, default off. If off, the function installs nothing, and no binary has a run path.
``FATLINK_BUNDLE_LICENSES``
  Cache variable: a folder with one licence text ``<soname>`` per library whose licence the system's packages lack.

Bundled: the libraries that fatlink links (zstd, lz4, nettle) and their dependencies. Not bundled: the C and C++
runtimes, which the base systems of Debian and Ubuntu have; those of the target machine must be at least as new as those
of the build machine.

Installs to ``share/doc/fatlink-runtime/licenses``: each library's licence under its soname, the common licences that
it refers to, and ``SOURCES.txt``, which names the source packages: a distributor of the archive must offer the
sources of nettle. Appends the sonames to the global property ``FATLINK_BUNDLED_LIBRARIES``, for the packages' SPDX documents
(detail/sbom.py). Arguments, and a library without a licence text, stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/elf.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/library_license.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run_path.cmake")

option(FATLINK_BUNDLE_LIBRARIES "Install the shared libraries that fatlink uses beside it" OFF)
set(FATLINK_BUNDLE_LICENSES "" CACHE PATH "Licence texts of bundled libraries, one <soname> each")

function(fatlink_bundle_libraries)
  if(ARGN)
    message(FATAL_ERROR "fatlink_bundle_libraries: unknown argument: ${ARGN}")
  endif()
  if(NOT FATLINK_BUNDLE_LIBRARIES)
    return()
  endif()
  _fatlink_bundled_files("${libzstd_LINK_LIBRARIES};${liblz4_LINK_LIBRARIES};${nettle_LINK_LIBRARIES}" files)
  set(sources "")
  foreach(file IN LISTS files)
    fatlink_read_elf("${file}" SONAME soname NEEDED needed)
    install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME "${soname}" COMPONENT runtime)
    fatlink_install_library_license("${file}" "${soname}"
      "${CMAKE_INSTALL_DATADIR}/doc/fatlink-runtime/licenses" source)
    string(APPEND sources "${source}\n")
    set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LIBRARIES "${soname}")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/bundled/SOURCES.txt" CONTENT "${sources}" @ONLY)
  install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bundled/"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fatlink-runtime/licenses" COMPONENT runtime)
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES "/licenses/common-licenses/=NOASSERTION")
  fatlink_run_path(fatlink_program "${CMAKE_INSTALL_BINDIR}")
  fatlink_run_path(fatlink_linkd "${CMAKE_INSTALL_LIBEXECDIR}")
  fatlink_run_path(fatlink_shared "${CMAKE_INSTALL_LIBDIR}")
endfunction()

# The files of `libraries` and of their dependencies, with links resolved, without duplicates and static libraries.
function(_fatlink_bundled_files libraries out)
  set(files "")
  while(libraries)
    list(POP_FRONT libraries library)
    if(NOT library MATCHES "\\.so(\\.[0-9.]+)?$")
      continue()
    endif()
    file(REAL_PATH "${library}" file)
    if(file IN_LIST files)
      continue()
    endif()
    list(APPEND files "${file}")
    fatlink_read_elf("${file}" SONAME soname NEEDED needed)
    foreach(name IN LISTS needed)
      _fatlink_needed_file("${name}" "${file}" path)
      list(APPEND libraries ${path})
    endforeach()
  endwhile()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# The file of a dependency of `library`; empty for glibc and gcc's runtime, which must match the system's loader.
function(_fatlink_needed_file name library out)
  set(${out} "" PARENT_SCOPE)
  if(name MATCHES "^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s))\\.so")
    return()
  endif()
  cmake_path(GET library PARENT_PATH folder)
  foreach(path IN ITEMS "${folder}" ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
    if(EXISTS "${path}/${name}")
      set(${out} "${path}/${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "FATLINK_BUNDLE_LIBRARIES: ${library} needs ${name}, which was not found. Install it.")
endfunction()
