# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_package_url
-------------------
Gives the package URL (purl) and the supplier of a dependency of fatlink, for SPDX documents.

  fatlink_package_url(<name> <version> <file> <purl-out> <supplier-out>)

``<file>``
  The header or library that is compiled in or bundled. If a Debian or Ubuntu package has it, the result is for
  example ``pkg:deb/debian/libzstd1@1.5.4%2Bdfsg2-5?arch=amd64`` and ``Debian``. If it is empty or in no package, the
  result names the upstream project: ``pkg:generic/zstd@1.5.4``.

The supplier of an unknown project is NOASSERTION.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/../bundle/library_license.cmake")

function(fatlink_package_url name version file purl_out supplier_out)
  if(ARGN)
    message(FATAL_ERROR "fatlink_package_url(${name}): unknown argument: ${ARGN}")
  endif()
  set(package "")
  if(file AND EXISTS "${file}")
    file(REAL_PATH "${file}" file)
    _fatlink_debian_package("${file}" package)
  endif()
  if(package)
    _fatlink_debian_url("${package}" purl supplier)
  else()
    string(TOLOWER "${name}" purl)
    string(REPLACE " " "-" purl "${purl}")
    _fatlink_url_text("${purl}" purl)
    string(PREPEND purl "pkg:generic/")
    if(version)
      _fatlink_url_text("${version}" version)
      string(APPEND purl "@${version}")
    endif()
    _fatlink_upstream("${name}" supplier)
  endif()
  set(${purl_out} "${purl}" PARENT_SCOPE)
  set(${supplier_out} "${supplier}" PARENT_SCOPE)
endfunction()

# For an installed package; /etc/os-release names the distribution.
function(_fatlink_debian_url package purl_out supplier_out)
  execute_process(COMMAND dpkg-query -W "-f=\${Version}=\${Architecture}" "${package}"
    OUTPUT_VARIABLE fields ERROR_QUIET)
  string(REGEX REPLACE "=.*" "" version "${fields}")
  string(REGEX REPLACE ".*=" "" architecture "${fields}")
  set(distribution debian)
  if(EXISTS /etc/os-release)
    file(STRINGS /etc/os-release id REGEX "^ID=")
    string(REGEX REPLACE "^ID=\"?([a-z0-9._-]+)\"?$" "\\1" distribution "${id}")
  endif()
  _fatlink_url_text("${package}" name)
  _fatlink_url_text("${version}" version)
  set(${purl_out} "pkg:deb/${distribution}/${name}@${version}?arch=${architecture}" PARENT_SCOPE)
  string(SUBSTRING "${distribution}" 0 1 first)
  string(SUBSTRING "${distribution}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  set(${supplier_out} "${first}${rest}" PARENT_SCOPE)
endfunction()

# Percent-encodes a name or version as the purl specification requires.
function(_fatlink_url_text text out)
  string(REPLACE "%" "%25" text "${text}")
  string(REPLACE "+" "%2B" text "${text}")
  string(REPLACE ":" "%3A" text "${text}")
  string(REPLACE "@" "%40" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The supplier of an upstream project.
function(_fatlink_upstream name out)
  set(supplier NOASSERTION)
  if(name MATCHES "^(CUDA Toolkit|nvJitLink)$")
    set(supplier "NVIDIA Corporation")
  elseif(name MATCHES "^(libstdc\\+\\+|libgcc|glibc)$")
    set(supplier "Free Software Foundation")
  elseif(name STREQUAL "googletest")
    set(supplier "Google LLC")
  elseif(name MATCHES "^(zstd|lz4|nettle|fmt|nlohmann-json|CLI11)$")
    set(supplier "The ${name} project")
  endif()
  set(${out} "${supplier}" PARENT_SCOPE)
endfunction()
