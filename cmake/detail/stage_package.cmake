# SPDX-License-Identifier: Apache-2.0
# The last install rule of a packaged component; included by <build>/packages/<package>.cmake, which sets PACKAGE,
# VERSION and the other settings. Does nothing unless cpack runs it. Adds the documents of the package and sets
# modes and times of its files. (CPACK_PRE_BUILD_SCRIPTS run too late: the files of an archive are listed by then.)
if(NOT DEFINED ENV{FATLINK_PACKAGING})
  return()
endif()

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

# Writes the licence and the changelogs.
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
      "${PACKAGE} (${VERSION}$ENV{FATLINK_PACKAGING_RELEASE}) unstable; urgency=medium\n\n  * ${PROJECT} ${VERSION}.\n\n"
      " -- ${CONTACT}  ${day}\n")
    fatlink_gzip("${folder}/changelog.Debian" "${folder}/${name}")
    file(REMOVE "${folder}/changelog.Debian")
  endif()
endfunction()

# Compresses manual pages as Debian policy requires (gzip without name and time).
function(fatlink_compress_manuals folder)
  file(GLOB_RECURSE manuals "${folder}/*.[1-9]")
  foreach(manual IN LISTS manuals)
    fatlink_gzip("${manual}" "${manual}.gz")
    file(REMOVE "${manual}")
  endforeach()
endfunction()

# Makes the modes and times of all files independent of the umask and the time of the build.
function(fatlink_set_modes_and_times root)
  foreach(action IN ITEMS
      "-type;d;-exec;chmod;755;{};+" "-type;f;-perm;/111;-exec;chmod;755;{};+"
      "-type;f;-not;-perm;/111;-exec;chmod;644;{};+"
      "-exec;touch;--no-dereference;--date=@$ENV{SOURCE_DATE_EPOCH};{};+")
    execute_process(COMMAND find "${root}" ${action} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

# Writes the SPDX document with the Python that the configuration found, else with the first python3 of PATH.
function(fatlink_write_sbom document staged)
  set(caller "fatlink_add_package(${PACKAGE})")
  if(NOT EXISTS "${PYTHON}")
    unset(PYTHON)
    find_program(PYTHON NAMES python3 NO_CACHE)
  endif()
  if(NOT PYTHON)
    message(FATAL_ERROR "${caller}: the package's SPDX document is written by Python, and no python3 was found. Install "
      "Python 3.9 or newer (Debian, Ubuntu, Fedora: python3), or configure with -DPython3_EXECUTABLE=FILE")
  endif()
  set(options "")
  foreach(pair IN ITEMS depends:SBOM part:PARTS bundled:BUNDLED license-of:LICENSES)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 option)
    list(GET pair 1 variable)
    foreach(value IN LISTS ${variable})
      list(APPEND options "--${option}=${value}")
    endforeach()
  endforeach()
  execute_process(COMMAND "${PYTHON}" -I -B "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sbom.py" "${document}" "--root=${staged}"
    "--name=${PACKAGE}" "--version=${VERSION}" "--summary=${SUMMARY}" "--license=${LICENSE_ID}" "--supplier=${SUPPLIER}" ${options}
    ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(STRIP "${error}" error)
    message(FATAL_ERROR "${caller}: no SPDX document from ${PYTHON} (${status}): ${error}")
  endif()
endfunction()

# Sets <out> to the programs and shared libraries for the host in the package. Cubins are ELF files, too, of another machine.
function(fatlink_find_host_code staged out)
  file(GLOB_RECURSE files "${staged}/*")
  set(found "")
  foreach(file IN LISTS files)
    if(IS_SYMLINK "${file}")
      continue()
    endif()
    file(READ "${file}" header LIMIT 20 HEX)
    if(header MATCHES "^7f454c46" AND NOT header MATCHES "be00$")
      list(APPEND found "${file}")
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Stops where a package for every architecture has code for one.
function(fatlink_check_any_architecture staged files)
  if(files)
    list(GET files 0 file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${staged}")
    message(FATAL_ERROR "fatlink_add_package(${PACKAGE}): ${file} is code for the host's processor, and the package is "
      "ANY_ARCHITECTURE. Leave this out, or give the file another COMPONENT and package")
  endif()
endfunction()

# Stops where a program is linked with a libfatlink that no Debian package has: dpkg-shlibdeps finds no package to depend on
# then, and does not say what to do. Warns where a program has libfatlink in it and the package needs no helper.
function(fatlink_check_libfatlink staged files)
  find_program(DPKG_QUERY dpkg-query NO_CACHE)
  find_program(READELF readelf NO_CACHE)
  file(GLOB_RECURSE own "${staged}/libfatlink.so.*" "${staged}/fatlink-linkd")
  if(own OR NOT DPKG_QUERY OR NOT READELF)
    return()
  endif()
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${staged}" OUTPUT_VARIABLE name)
    execute_process(COMMAND "${READELF}" -dW "${file}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
    if(NOT dynamic MATCHES "\\(NEEDED\\)[^\n]*\\[(libfatlink\\.so\\.[0-9.]+)\\]")
      file(STRINGS "${file}" helper LIMIT_COUNT 1 REGEX "install the fatlink-linkd")
      if(helper AND NOT DEB_DEPENDS MATCHES "fatlink-runtime")
        message(WARNING "fatlink_add_package(${PACKAGE}): ${name} is linked with fatlink::static, which links by the helper "
          "fatlink-linkd, and nothing of the DEB depends on it. Add DEB_DEPENDS fatlink-runtime")
      endif()
      continue()
    endif()
    set(soname "${CMAKE_MATCH_1}")
    execute_process(COMMAND "${DPKG_QUERY}" -S "*/${soname}" OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "fatlink_add_package(${PACKAGE}): ${name} is linked with ${soname}, which is in no Debian package on "
        "this machine, so the DEB has nothing to depend on. Install fatlink-runtime and fatlink-development as DEBs and configure with them; "
        "or link with fatlink::static, which archives and DEBs of fatlink have; or make another format: cpack -G TGZ")
    endif()
  endforeach()
endfunction()

# Installs the files of other components, without the documents of their packages.
function(fatlink_install_components)
  foreach(component IN LISTS ARGN)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=FATLINK_PACKAGING
      "${CMAKE_COMMAND}" "-DCMAKE_INSTALL_COMPONENT=${component}"
      "-DCMAKE_INSTALL_PREFIX=${CMAKE_INSTALL_PREFIX}" -P "${BUILD}/cmake_install.cmake"
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "$ENV{FATLINK_PACKAGING_PREFIX}/*$" "" staged "${root}")
if("$ENV{FATLINK_PACKAGING}" STREQUAL "TGZ")
  fatlink_install_components(${ARCHIVE_COMPONENTS})
endif()

set(documents "${root}/share/doc/${PACKAGE}")
file(MAKE_DIRECTORY "${documents}")
fatlink_write_documents("${documents}")
if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB")
  file(REMOVE "${documents}/LICENSE")  # its text is in the file copyright
endif()
fatlink_compress_manuals("${root}/share/man")
fatlink_find_host_code("${staged}" host_code)
if(ANY_ARCHITECTURE)
  fatlink_check_any_architecture("${staged}" "${host_code}")
elseif("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB")
  fatlink_check_libfatlink("${staged}" "${host_code}")
endif()
if("$ENV{FATLINK_PACKAGING}" STREQUAL "DEB" AND OVERRIDES)
  configure_file("${OVERRIDES}" "${root}/share/lintian/overrides/${PACKAGE}" COPYONLY)
endif()
fatlink_write_sbom("${documents}/${PACKAGE}.spdx.json" "${staged}")
fatlink_set_modes_and_times("${staged}")
