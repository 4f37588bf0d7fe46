# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_files
----------
Describes the files of a package, for ``fatlink_write_sbom``.

  _fatlink_sbom_files(<caller> <root> <document> <licences>)

Sets in the caller: ``files`` and ``file_relationships``, the elements of JSON arrays; ``file_licenses``, without
duplicates; ``verification``, the package's verification code as JSON (SPDX 2.3, 7.9).
#]=======================================================================]
include_guard(GLOBAL)

function(_fatlink_sbom_files caller root document licenses)
  file(GLOB_RECURSE names LIST_DIRECTORIES false RELATIVE "${root}" "${root}/*")
  list(SORT names)
  set(files "")
  set(relationships "")
  set(distinct_licenses "")
  set(digests "")
  # A document from an earlier run must not change this one.
  set(excluded "")
  cmake_path(IS_PREFIX root "${document}" NORMALIZE inside)
  if(inside)
    cmake_path(RELATIVE_PATH document BASE_DIRECTORY "${root}" OUTPUT_VARIABLE document_name)
    list(REMOVE_ITEM names "${document_name}")
    _fatlink_json_text("./${document_name}" excluded)
    set(excluded ", \"packageVerificationCodeExcludedFiles\": [${excluded}]")
  endif()
  set(number 0)
  foreach(name IN LISTS names)
    set(path "${root}/${name}")
    if(IS_SYMLINK "${path}")
      continue()
    endif()
    _fatlink_json_text("./${name}" json_name)
    math(EXPR number "${number} + 1")
    file(SHA1 "${path}" sha1)
    file(SHA256 "${path}" sha256)
    _fatlink_sbom_file_type("${root}" "${name}" type)
    _fatlink_sbom_file_license("${name}" "${licenses}" license)
    list(APPEND digests "${sha1}")
    # The licence of a licence's text is unknown, but that says nothing about the package.
    if(NOT (license STREQUAL "NOASSERTION" AND type STREQUAL "DOCUMENTATION"))
      list(APPEND distinct_licenses "${license}")
    endif()
    string(APPEND files "{\"fileName\": ${json_name}, \"SPDXID\": \"SPDXRef-File-${number}\", "
      "\"checksums\": [{\"algorithm\": \"SHA1\", \"checksumValue\": \"${sha1}\"}, "
      "{\"algorithm\": \"SHA256\", \"checksumValue\": \"${sha256}\"}], \"fileTypes\": [\"${type}\"], "
      "\"licenseConcluded\": \"${license}\", \"copyrightText\": \"NOASSERTION\"},\n")
    string(APPEND relationships ",\n{\"spdxElementId\": \"SPDXRef-Package\", \"relationshipType\": "
      "\"CONTAINS\", \"relatedSpdxElement\": \"SPDXRef-File-${number}\"}")
  endforeach()
  if(number EQUAL 0)
    message(FATAL_ERROR "${caller}: ROOT ${root} holds no files")
  endif()

  list(SORT digests)
  string(JOIN "" digests ${digests})
  string(SHA1 code "${digests}")
  string(REGEX REPLACE ",\n$" "" files "${files}")
  list(REMOVE_DUPLICATES distinct_licenses)
  list(SORT distinct_licenses)
  set(verification "{\"packageVerificationCodeValue\": \"${code}\"${excluded}}" PARENT_SCOPE)
  set(files "${files}" PARENT_SCOPE)
  set(file_relationships "${relationships}" PARENT_SCOPE)
  set(file_licenses "${distinct_licenses}" PARENT_SCOPE)
endfunction()

# The SPDX file type, from the name, or from the first bytes of a file without a known extension.
function(_fatlink_sbom_file_type root name out)
  set(type OTHER)
  if(name MATCHES "\\.spdx\\.json$")
    set(type SPDX)
  elseif(name MATCHES "(^|/)share/(doc|man)/")
    set(type DOCUMENTATION)
  elseif(name MATCHES "\\.(so|so\\.[0-9.]+|a|fatbin|cubin)$")
    set(type BINARY)
  elseif(name MATCHES "\\.(hpp|h|cpp|cu|cuh|cmake|py)$")
    set(type SOURCE)
  elseif(name MATCHES "\\.(json|txt|pc|ptx)$")
    set(type TEXT)
  else()
    file(READ "${root}/${name}" start LIMIT 4 HEX)
    if(start STREQUAL "7f454c46")
      set(type BINARY)
    elseif(start MATCHES "^2321")  # "#!"
      set(type SOURCE)
    endif()
  endif()
  set(${out} ${type} PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_file_license name licenses out)
  set(${out} "${arg_LICENSE}" PARENT_SCOPE)
  foreach(pair IN LISTS licenses)
    if(NOT pair MATCHES "^(.+)=([^=]+)$")
      message(FATAL_ERROR "fatlink_write_sbom: LICENSES ${pair}: expected <expression>=<licence>")
    endif()
    set(license "${CMAKE_MATCH_2}")
    if(name MATCHES "${CMAKE_MATCH_1}")
      set(${out} "${license}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
