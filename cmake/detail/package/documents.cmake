# SPDX-License-Identifier: Apache-2.0
# Writes a package's documents in share/doc (licence and changelogs) and compresses manual pages as Debian policy
# requires (gzip without name and time).
include_guard(GLOBAL)

# Compresses <input> to <output> with gzip -9n.
function(fatlink_gzip input output)
  execute_process(COMMAND gzip -9nc "${input}" OUTPUT_FILE "${output}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Writes Debian's machine-readable copyright file. A DEB refers to a licence in /usr/share/common-licenses.
function(fatlink_write_copyright file)
  file(READ "${LICENSE}" license)
  string(TIMESTAMP year "%Y" UTC)  # from SOURCE_DATE_EPOCH
  set(name "LicenseRef-${PROJECT}")
  if(license MATCHES "Apache License[ \n]+Version 2.0, January 2004")
    set(name "Apache-2.0")
    if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB")
      set(license "On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.")
    endif()
  endif()
  string(REGEX REPLACE "[ \t]*\n" "\n " license "${license}")
  string(REPLACE "\n \n" "\n .\n" license "${license}")
  string(REPLACE "\n \n" "\n .\n" license "${license}")
  string(STRIP "${license}" license)
  file(WRITE "${file}"
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
    "Upstream-Name: ${PROJECT}\n\n"
    "Files: *\nCopyright: ${year} ${COPYRIGHT}\nLicense: ${name}\n ${license}\n")
endfunction()

function(fatlink_write_documents folder)
  if(LICENSE)
    fatlink_write_copyright("${folder}/copyright")
  endif()
  if(CHANGELOG)
    fatlink_gzip("${CHANGELOG}" "${folder}/changelog.gz")
  endif()
  if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB")
    # Debian's changelog is named changelog.Debian.gz beside an upstream changelog, else changelog.gz.
    set(name "changelog.Debian.gz")
    if(NOT CHANGELOG)
      set(name "changelog.gz")
    endif()
    string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)  # from SOURCE_DATE_EPOCH
    file(WRITE "${folder}/changelog.Debian"
      "${PROJECT} (${VERSION}$ENV{FATLINK_PACKAGING_RELEASE}) unstable; urgency=medium\n\n  * ${PROJECT} ${VERSION}.\n\n"
      " -- ${CONTACT}  ${day}\n")
    fatlink_gzip("${folder}/changelog.Debian" "${folder}/${name}")
    file(REMOVE "${folder}/changelog.Debian")
  endif()
endfunction()

function(fatlink_compress_manuals folder)
  file(GLOB_RECURSE manuals "${folder}/*.[1-9]")
  foreach(manual IN LISTS manuals)
    fatlink_gzip("${manual}" "${manual}.gz")
    file(REMOVE "${manual}")
  endforeach()
endfunction()
