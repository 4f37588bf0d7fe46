# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_write_sbom
------------------
Writes an SPDX 2.3 document that lists a package's files and dependencies.

  fatlink_write_sbom(<file.spdx.json>
    ROOT <folder> NAME <package> VERSION <version> SUMMARY <text>
    [LICENSE <SPDX expression>] [SUPPLIER <organization>]
    [DEPENDS <name=version=licence=relationship[=supplier=purl]>...]
    [LICENSES <expression=licence>...])

The package's purl is ``pkg:generic/<package>@<version>``.

``ROOT``
  The staged package. Its files are listed as ``./usr/bin/fatlink``; symbolic links, and the document itself if it
  is under ``ROOT``, are left out.
``LICENSE``, ``SUPPLIER``
  Of the package and its files. Default: NOASSERTION.
``DEPENDS``
  Parts and dependencies, as ``fatlink_sbom_dependencies`` gives them. The relationship is an SPDX relationship
  from the package to the dependency (``DYNAMIC_LINK``), or from the dependency to the package if its name ends in
  ``_OF`` (``BUILD_TOOL_OF``). A dependency that is listed twice has both relationships. The supplier is an
  organization. Version, supplier and purl may be empty; the purl may contain ``=``.
``LICENSES``
  Files under another licence than the package's: those whose path matches the regular expression.

Reproducible: the document's namespace is a digest of its contents, and its time is ``$SOURCE_DATE_EPOCH``, which
must be set. Missing, unknown or malformed arguments stop CMake. Works in projects and in scripts
(``cmake -P``).
#]=======================================================================]
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)  # for scripts that set no policies: before CMP0009 GLOB_RECURSE follows links

include("${CMAKE_CURRENT_LIST_DIR}/../check_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom_json.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom_files.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sbom_packages.cmake")

function(fatlink_write_sbom output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOT;NAME;VERSION;SUMMARY;LICENSE;SUPPLIER" "DEPENDS;LICENSES")
  set(caller "fatlink_write_sbom(${output})")
  fatlink_check_arguments("${caller}" ROOT NAME VERSION SUMMARY)
  if(NOT IS_DIRECTORY "${arg_ROOT}")
    message(FATAL_ERROR "${caller}: ROOT ${arg_ROOT}: no such folder")
  endif()
  if(NOT "$ENV{SOURCE_DATE_EPOCH}" MATCHES "^[0-9]+$")
    message(FATAL_ERROR "${caller}: set SOURCE_DATE_EPOCH to the time of the release, in seconds since 1970. The "
      "document states its time and must be reproducible")
  endif()
  foreach(keyword IN ITEMS LICENSE SUPPLIER)
    if("${arg_${keyword}}" STREQUAL "")
      set(arg_${keyword} NOASSERTION)
    endif()
  endforeach()
  # Generated scripts pass lists in quotes, which are one argument.
  set(arg_DEPENDS ${arg_DEPENDS})
  set(arg_LICENSES ${arg_LICENSES})
  cmake_path(ABSOLUTE_PATH output NORMALIZE)
  cmake_path(ABSOLUTE_PATH arg_ROOT NORMALIZE)

  _fatlink_sbom_files("${caller}" "${arg_ROOT}" "${output}" "${arg_LICENSES}")
  _fatlink_sbom_package(package)
  _fatlink_sbom_dependencies("${caller}" "${arg_DEPENDS}")
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
  _fatlink_sbom_id("${arg_NAME}-${arg_VERSION}" id)
  file(WRITE "${output}"
    "{\n\"spdxVersion\": \"SPDX-2.3\",\n\"dataLicense\": \"CC0-1.0\",\n"
    "\"SPDXID\": \"SPDXRef-DOCUMENT\",\n\"name\": ${name},\n"
    "\"documentNamespace\": \"https://spdx.org/spdxdocs/${id}-${digest}\"${after_namespace}")
endfunction()
