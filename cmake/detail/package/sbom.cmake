# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_sbom
------------------
Writes what a package holds and is made of, as an SPDX 2.3 document.

  fatlink_write_sbom(<file.spdx.json>
    ROOT <folder> NAME <package> VERSION <version> SUMMARY <text>
    [LICENSE <SPDX expression>] [SUPPLIER <organization>]
    [DEPENDS <name=version=licence=relationship[=supplier=purl]>...]
    [LICENSES <expression=licence>...])

The package's own purl is ``pkg:generic/<package>@<version>``.

``ROOT``
  The staged package: its files are listed as ``./usr/bin/fatlink``. Symbolic links are not, and
  neither is the document itself, which may lie under it.
``LICENSE``, ``SUPPLIER``
  Of the package and its files; not stated: NOASSERTION.
``DEPENDS``
  What the package is made of, as ``fatlink_sbom_dependencies`` gives it. The version may be empty.
  The relationship is SPDX's: of the package to the other (``DYNAMIC_LINK``), or for one that ends in
  ``_OF`` of the other to the package (``BUILD_TOOL_OF``). One that is named twice has both. The supplier is
  an organization; the purl, which may have ``=``, its package URL. Each may be empty: not stated.
``LICENSES``
  Files under another licence than the package's: those whose name matches the regular expression.

The same contents give the same bytes: the document's namespace is a digest of them, and its time is
``$SOURCE_DATE_EPOCH``, which must be set. Missing, unknown or malformed arguments stop CMake. Works in
projects and in scripts (``cmake -P``).
#]=======================================================================]
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)  # a script may have set none, and old ones walk into linked folders

include("${CMAKE_CURRENT_LIST_DIR}/sbom_json.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom_files.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom_packages.cmake")

function(fatlink_write_sbom output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOT;NAME;VERSION;SUMMARY;LICENSE;SUPPLIER" "DEPENDS;LICENSES")
  set(me "fatlink_write_sbom(${output})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(argument IN ITEMS ROOT NAME VERSION SUMMARY)
    if("${arg_${argument}}" STREQUAL "")
      message(FATAL_ERROR "${me}: ${argument} is missing")
    endif()
  endforeach()
  if(NOT IS_DIRECTORY "${arg_ROOT}")
    message(FATAL_ERROR "${me}: ROOT ${arg_ROOT}: no such folder")
  endif()
  if(NOT "$ENV{SOURCE_DATE_EPOCH}" MATCHES "^[0-9]+$")
    message(FATAL_ERROR "${me}: set SOURCE_DATE_EPOCH to the seconds since 1970 of the release: "
      "the document states when it was made, and has to be the same every time")
  endif()
  foreach(stated IN ITEMS LICENSE SUPPLIER)
    if("${arg_${stated}}" STREQUAL "")
      set(arg_${stated} NOASSERTION)
    endif()
  endforeach()
  # A list in quotes is the same list: scripts that are generated have them.
  set(arg_DEPENDS ${arg_DEPENDS})
  set(arg_LICENSES ${arg_LICENSES})
  cmake_path(ABSOLUTE_PATH output NORMALIZE)
  cmake_path(ABSOLUTE_PATH arg_ROOT NORMALIZE)

  _fatlink_sbom_files("${me}" "${arg_ROOT}" "${output}" "${arg_LICENSES}")
  _fatlink_sbom_package(package)
  _fatlink_sbom_dependencies("${me}" "${arg_DEPENDS}")
  _fatlink_sbom_licenses("${file_licenses};${dependency_licenses}" licenses)
  string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
  string(CONCAT after_namespace
    ",\n\"creationInfo\": {\"created\": \"${created}\", \"creators\": "
    "[\"Tool: fatlink_write_sbom-1\"]},\n"
    "\"packages\": [\n${package}${dependency_packages}\n],\n"
    "\"files\": [\n${files}\n],\n${licenses}"
    "\"relationships\": [\n"
    "{\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", "
    "\"relatedSpdxElement\": \"SPDXRef-Package\"}${file_relationships}${dependency_relationships}\n]\n}\n")
  _fatlink_json_text("${arg_NAME}-${arg_VERSION}" name)
  string(SHA256 digest "${name}${after_namespace}")
  _fatlink_sbom_id("${arg_NAME}-${arg_VERSION}" in_uri)
  file(WRITE "${output}"
    "{\n\"spdxVersion\": \"SPDX-2.3\",\n\"dataLicense\": \"CC0-1.0\",\n"
    "\"SPDXID\": \"SPDXRef-DOCUMENT\",\n\"name\": ${name},\n"
    "\"documentNamespace\": \"https://spdx.org/spdxdocs/${in_uri}-${digest}\"${after_namespace}")
endfunction()
