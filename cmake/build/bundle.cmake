# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
bundle
------
Installs what others own beside fatlink: shared libraries that it uses, libraries of the CUDA Toolkit, and licences.

  fatlink_bundle_libraries()
  fatlink_bundle_cuda(DESTINATION <folder> COMPONENT <component>)
  fatlink_install_notices(<component> <header>...)

``fatlink_bundle_libraries``
  Makes an archive that runs on a machine without other packages: installs the shared libraries that fatlink uses, with
  their licences, and sets the run path of the binaries. Bundled: the libraries that fatlink links (zstd, lz4, nettle) and
  their dependencies. Not bundled: the C and C++ runtimes, which the base systems of Debian and Ubuntu have; those of the
  target machine must be at least as new as those of the build machine.
  Installs to ``share/doc/fatlink-runtime/licenses``: each library's licence under its soname, the common licences that
  it refers to, and ``SOURCES.txt``, which names the source packages: a distributor of the archive must offer the
  sources of nettle. A library without a licence text stops configuration.
  Of a library in the global property ``FATLINK_STATICALLY_LINKED``, a list of sonames, only the licence is installed.
``FATLINK_BUNDLE_LIBRARIES``
  Option, default off. If off, ``fatlink_bundle_libraries`` installs nothing, and no binary has a run path.
``FATLINK_BUNDLE_LICENSES``
  Cache variable: a folder with one licence text ``<soname>`` per library whose licence the system's packages lack.
``fatlink_bundle_cuda``
  Installs libraries of the CUDA Toolkit, if the toolkit's licence allows their distribution. Default: none, because
  nvJitLink is found at run time. A library that Attachment A of the licence does not list stops configuration. The licence
  allows no changes, so libraries are installed as files, under their sonames: ``install/strip`` and ``CPACK_STRIP_FILES``
  do not touch files, and rpmbuild is told not to strip (FatlinkAddPackage.cmake). The licence is installed as
  ``share/doc/fatlink-<component>/CUDA-EULA.txt``.
``FATLINK_BUNDLE_CUDA``
  Cache variable: the libraries, named as in the toolkit, for example ``nvJitLink``.
``FATLINK_CUDA_LICENSE``
  Cache variable: file with the vendor's licence. Default: the toolkit's, if one is found.
``fatlink_install_notices``
  Installs the licences of header-only libraries that are compiled into fatlink's binaries. Those licences require it. Each
  text is the copyright file of the Debian package that has the header, else ``<folder of the header>`` in
  ``FATLINK_BUNDLE_LICENSES``. A missing text is a warning.

The packages' SPDX documents state the licences of what is bundled (detail/sbom.py), by the global properties
``FATLINK_BUNDLED_LIBRARIES``, a list of sonames, and ``FATLINK_BUNDLED_LICENSES``, a list of ``<expression>=<licence>``.

Unknown or missing arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../detail/arguments.cmake")

option(FATLINK_BUNDLE_LIBRARIES "Install the shared libraries that fatlink uses beside it" OFF)
set(FATLINK_BUNDLE_LICENSES "" CACHE PATH "Licence texts of bundled libraries, one <soname> each")
set(FATLINK_BUNDLE_CUDA "" CACHE STRING
  "Libraries of the CUDA Toolkit to install, e.g. nvJitLink, if its licence allows it")
set(FATLINK_CUDA_LICENSE "" CACHE FILEPATH "The CUDA Toolkit's licence; empty: the toolkit's own file")

# ---- the libraries that fatlink links

function(fatlink_bundle_libraries)
  if(ARGN)
    message(FATAL_ERROR "fatlink_bundle_libraries: unknown argument: ${ARGN}")
  endif()
  if(NOT FATLINK_BUNDLE_LIBRARIES)
    return()
  endif()
  _fatlink_bundled_files("${libzstd_LINK_LIBRARIES};${liblz4_LINK_LIBRARIES};${nettle_LINK_LIBRARIES}" files)
  get_property(linked_statically GLOBAL PROPERTY FATLINK_STATICALLY_LINKED)
  set(sources "")
  foreach(file IN LISTS files)
    fatlink_read_elf("${file}" SONAME soname NEEDED needed)
    if(NOT soname IN_LIST linked_statically)
      install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME "${soname}" COMPONENT runtime)
    endif()
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

# Installs the licence text of a bundled library and the common licences that it refers to. The text is <soname> in
# FATLINK_BUNDLE_LICENSES, else the copyright file of the Debian package that has the file. A missing text stops
# configuration. The result is a line that names the source of the library.
function(fatlink_install_library_license file soname destination out)
  set(source "${soname}: see its licence")
  set(license "${FATLINK_BUNDLE_LICENSES}/${soname}")
  if(NOT FATLINK_BUNDLE_LICENSES OR NOT EXISTS "${license}")
    _fatlink_debian_package("${file}" package)
    set(license "${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright")
    if(package STREQUAL "" OR NOT EXISTS "${license}")
      message(FATAL_ERROR "FATLINK_BUNDLE_LIBRARIES: ${file}: no licence text was found. Put it in "
        "FOLDER/${soname} and name the folder with -DFATLINK_BUNDLE_LICENSES=FOLDER.")
    endif()
    execute_process(COMMAND dpkg-query "--admindir=${CMAKE_SYSROOT}/var/lib/dpkg" -W
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

# The Debian package that has `file`, or nothing. Packages from before the merge of /lib and /usr/lib list /lib. In a cross
# build it is a package of the sysroot.
function(_fatlink_debian_package file out)
  set(${out} "" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH file NORMALIZE)
  if(CMAKE_SYSROOT)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_SYSROOT}")
    string(PREPEND file "/")
  endif()
  string(REGEX REPLACE "^/usr/lib/" "/lib/" unmerged "${file}")
  foreach(path IN ITEMS "${file}" "${unmerged}")
    execute_process(COMMAND dpkg-query "--admindir=${CMAKE_SYSROOT}/var/lib/dpkg" -S "${path}"
      OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9.+-]+)(:[a-z0-9]+)?: ")
      set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

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
    set(text "${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright")
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

# Makes a target search the install tree's library folder for shared libraries, also after the tree was moved. The path is a
# DT_RPATH: unlike a DT_RUNPATH it also applies to the dependencies of bundled libraries, and it is searched before
# LD_LIBRARY_PATH. The binaries of the build tree have the same path, so installation does not edit them.
function(fatlink_run_path target folder)
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

# ---- the toolkit's libraries

function(fatlink_bundle_cuda)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "DESTINATION;COMPONENT" "")
  fatlink_check_arguments(fatlink_bundle_cuda DESTINATION COMPONENT)
  if(FATLINK_BUNDLE_CUDA STREQUAL "")
    return()
  endif()
  _fatlink_cuda_license(license)
  fatlink_distributable("${license}" distributable)
  if(distributable STREQUAL "NOTFOUND")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${license} has no Attachment A that lists the distributable "
      "libraries. Name the licence of your toolkit with -DFATLINK_CUDA_LICENSE=FILE.")
  endif()

  foreach(name IN LISTS FATLINK_BUNDLE_CUDA)
    _fatlink_check_distributable("${name}" "${license}" "${distributable}")
    _fatlink_install_cuda("${name}" "${arg_DESTINATION}" "${arg_COMPONENT}")
  endforeach()
  install(FILES "${license}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fatlink-${arg_COMPONENT}"
    RENAME CUDA-EULA.txt COMPONENT "${arg_COMPONENT}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/CUDA-EULA[.]txt$=LicenseRef-NVIDIA-CUDA-EULA")
endfunction()

# The licence file: FATLINK_CUDA_LICENSE, else that of the toolkit (an installer's, or the wheels').
function(_fatlink_cuda_license out)
  if(FATLINK_CUDA_LICENSE)
    if(NOT EXISTS "${FATLINK_CUDA_LICENSE}" OR IS_DIRECTORY "${FATLINK_CUDA_LICENSE}")
      message(FATAL_ERROR "FATLINK_CUDA_LICENSE: ${FATLINK_CUDA_LICENSE}: no such file")
    endif()
    set(${out} "${FATLINK_CUDA_LICENSE}" PARENT_SCOPE)
    return()
  endif()
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH root)
  file(GLOB wheels "${root}/dist-info/nvidia_nvjitlink-*/licenses/License.txt")
  foreach(file IN ITEMS "${root}/EULA.txt" "${root}/doc/EULA.txt" ${wheels} "${root}/License.txt")
    if(EXISTS "${file}")
      set(${out} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: no licence was found in ${root}. Get the End User License "
    "Agreement of your toolkit from the vendor and name it with -DFATLINK_CUDA_LICENSE=FILE.")
endfunction()

# Installs the library as a file, because CMake strips libraries.
function(_fatlink_install_cuda name destination component)
  _fatlink_cuda_library("${name}" library)
  fatlink_read_elf("${library}" SONAME soname NEEDED needed)
  install(FILES "${library}" DESTINATION "${destination}" RENAME "${soname}" COMPONENT "${component}")
  string(REGEX REPLACE "[.+]" "[\\0]" expression "${soname}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/${expression}$=LicenseRef-NVIDIA-CUDA-EULA")
endfunction()

# The file of lib<name>.so.<version>, with links resolved.
function(_fatlink_cuda_library name out)
  file(GLOB paths "${CUDAToolkit_LIBRARY_DIR}/lib${name}.so.*")
  list(FILTER paths INCLUDE REGEX "\\.so\\.[0-9.]+$")
  set(files "")
  foreach(path IN LISTS paths)
    file(REAL_PATH "${path}" file)
    list(APPEND files "${file}")
  endforeach()
  list(REMOVE_DUPLICATES files)
  list(LENGTH files count)
  if(count EQUAL 0)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: no lib${name}.so.<version> in "
      "${CUDAToolkit_LIBRARY_DIR}. Name libraries as the toolkit does, for example nvJitLink.")
  elseif(count GREATER 1)
    list(JOIN files ", " files)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: a package can hold only one of these "
      "files: ${files}. Name a toolkit that has one of them with -DCUDAToolkit_ROOT=FOLDER.")
  endif()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

function(_fatlink_check_distributable name license distributable)
  if(name MATCHES "^(cuda|nvidia-.*)$")
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: lib${name}.so belongs to the driver, which each "
      "machine installs itself. Remove it from the list.")
  elseif(NOT "lib${name}.so" IN_LIST distributable)
    message(FATAL_ERROR "FATLINK_BUNDLE_CUDA: ${name}: Attachment A of ${license} does not list "
      "lib${name}.so as distributable. Get the End User License Agreement of your toolkit from the vendor; if "
      "it lists lib${name}.so, name it with -DFATLINK_CUDA_LICENSE=FILE, else remove ${name} from the list.")
  endif()
endfunction()

# The shared libraries for Linux that a CUDA licence lists in its Attachment A, "The following portions of the SDK are
# distributable": spelled as in the licence, for example libcudart.so, from the lists under the headings "Linux" and "All";
# prose is ignored. Libraries of the driver are left out, because their distribution has conditions that a build cannot
# check. NOTFOUND if the text has no such section. Two layouts are supported: the licence's text (headings on separate
# lines, names separated by commas and wrapped), and its web page saved as text (a bar after each cell).
function(fatlink_distributable file out)
  file(READ "${file}" text)
  # Remove characters that have a meaning in CMake lists.
  string(REGEX REPLACE "[][;\\\\\r|*#]" " " text "${text}")
  string(REGEX MATCH "The[ \n]+following[ \n]+portions[ \n]+of[ \n]+the[ \n]+SDK[ \n]+are[ \n]+distributable"
    start "${text}")
  if(start STREQUAL "")
    set(${out} NOTFOUND PARENT_SCOPE)
    return()
  endif()
  string(FIND "${text}" "${start}" offset)
  string(SUBSTRING "${text}" ${offset} -1 text)
  string(FIND "${text}" "Attachment B" end)
  string(SUBSTRING "${text}" 0 ${end} text)

  string(REPLACE "\n" ";" lines "${text}")
  set(for_linux FALSE)
  set(libraries "")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" line)
    if(line MATCHES "^(Linux|All)$")
      set(for_linux TRUE)
    elseif(line MATCHES "^[A-Za-z0-9_./+-]+\\.[a-z]+([, ]+[A-Za-z0-9_./+-]+\\.[0-9a-z]+)*,?$")
      if(for_linux)
        string(REGEX MATCHALL "lib[A-Za-z0-9_+-]+\\.so" names "${line}")
        list(APPEND libraries ${names})
      endif()
    elseif(line)  # another heading or prose
      set(for_linux FALSE)
    endif()
  endforeach()
  list(FILTER libraries EXCLUDE REGEX "^lib(cuda|nvidia-.*)\\.so$")
  list(REMOVE_DUPLICATES libraries)
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# fatlink_read_elf(<file> SONAME <out-var> NEEDED <out-var>): the soname of a shared library and the libraries that it needs,
# by readelf. SONAME is the name of the file if the library states none. A file that is not a shared library stops
# configuration.
function(fatlink_read_elf file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SONAME;NEEDED" "")
  fatlink_check_arguments("fatlink_read_elf(${file})" SONAME NEEDED)
  find_program(FATLINK_READELF NAMES "${CMAKE_READELF}" readelf llvm-readelf)
  mark_as_advanced(FATLINK_READELF)
  if(NOT FATLINK_READELF)
    message(FATAL_ERROR "fatlink: readelf was not found. Install binutils.")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${FATLINK_READELF}" -d -W "${file}"
    OUTPUT_VARIABLE dynamic ERROR_VARIABLE error)
  if(NOT dynamic MATCHES "Dynamic section|DynamicSection")
    message(FATAL_ERROR "${file}: not a shared library: ${error}")
  endif()

  cmake_path(GET file FILENAME soname)
  if(dynamic MATCHES "\\(SONAME\\)[^[\n]*\\[([^]]+)\\]")
    set(soname "${CMAKE_MATCH_1}")
  endif()
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${dynamic}")
  set(needed "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\\[([^]]+)\\].*" "\\1" name "${line}")
    list(APPEND needed "${name}")
  endforeach()
  set(${arg_SONAME} "${soname}" PARENT_SCOPE)
  set(${arg_NEEDED} "${needed}" PARENT_SCOPE)
endfunction()
