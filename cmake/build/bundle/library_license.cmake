# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_install_library_license
-------------------------------
Installs the licence text of a bundled library and the common licences that it refers to.

  fatlink_install_library_license(<file> <soname> <destination> <out-var>)

The text is ``<soname>`` in ``FATLINK_BUNDLE_LICENSES``, else the copyright file of the Debian package that has the
file. A missing text stops configuration. The result is a line that names the source of the library.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_install_library_license file soname destination out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_install_library_license(${soname}): unknown argument: ${ARGN}")
  endif()
  set(source "${soname}: see its licence")
  set(license "${FATLINK_BUNDLE_LICENSES}/${soname}")
  if(NOT FATLINK_BUNDLE_LICENSES OR NOT EXISTS "${license}")
    _fatlink_debian_package("${file}" package)
    set(license "/usr/share/doc/${package}/copyright")
    if(package STREQUAL "" OR NOT EXISTS "${license}")
      message(FATAL_ERROR "FATLINK_BUNDLE_LIBRARIES: ${file}: no licence text was found. Put it in "
        "FOLDER/${soname} and name the folder with -DFATLINK_BUNDLE_LICENSES=FOLDER.")
    endif()
    execute_process(COMMAND dpkg-query -W
      "-f=${soname}: package \${Package} \${Version}, source \${source:Package} \${source:Version}"
      "${package}" OUTPUT_VARIABLE source ERROR_QUIET)
  endif()
  install(FILES "${license}" DESTINATION "${destination}" RENAME "${soname}" COMPONENT runtime)

  # Debian's copyright files refer to common licences, which other systems do not have.
  file(READ "${license}" text)
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" common "${text}")
  list(REMOVE_DUPLICATES common)
  foreach(path IN LISTS common)
    if(EXISTS "${path}")
      cmake_path(GET path FILENAME name)
      file(REAL_PATH "${path}" path)
      install(FILES "${path}" DESTINATION "${destination}/common-licenses" RENAME "${name}"
        COMPONENT runtime)
    endif()
  endforeach()
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# The Debian package that has `file`, or nothing. Packages from before the merge of /lib and /usr/lib list /lib.
function(_fatlink_debian_package file out)
  set(${out} "" PARENT_SCOPE)
  string(REGEX REPLACE "^/usr/lib/" "/lib/" unmerged "${file}")
  foreach(path IN ITEMS "${file}" "${unmerged}")
    execute_process(COMMAND dpkg-query -S "${path}" OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9.+-]+)(:[a-z0-9]+)?: ")
      set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
