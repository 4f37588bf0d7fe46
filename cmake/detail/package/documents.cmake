# SPDX-License-Identifier: Apache-2.0
# The documents a package carries in share/doc: licence, changelogs; and manuals, compressed as Debian
# wants them (without a name and a time in them).
include_guard(GLOBAL)

# gzip -9n of <from> to <to>.
function(fatlink_gzip from to)
  execute_process(COMMAND gzip -9nc "${from}" OUTPUT_FILE "${to}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# In the machine-readable format of Debian; a licence that Debian has everywhere is only named there.
function(fatlink_write_copyright file)
  file(READ "${LICENSE}" license)
  string(TIMESTAMP year "%Y" UTC)  # of SOURCE_DATE_EPOCH
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
    # Debian's own is called so beside another, and takes the name of one that is not there.
    set(name "changelog.Debian.gz")
    if(NOT CHANGELOG)
      set(name "changelog.gz")
    endif()
    string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH
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
