# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_packages
-------------
Describes the package and its dependencies, for ``fatlink_write_sbom``.

  _fatlink_sbom_package(<out-var>)              the package, from the caller's variables
  _fatlink_sbom_dependencies(<caller> <list>)   sets ``dependency_packages``, ``dependency_relationships`` and
                                                ``dependency_licenses``
  _fatlink_sbom_licenses(<list> <out-var>)      the texts of licences that are not in SPDX's list
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/sbom_dependency.cmake")

# The package as JSON. Its licence is the conjunction of the licences of its files.
function(_fatlink_sbom_package out)
  set(terms "")
  foreach(license IN LISTS file_licenses)
    if(license MATCHES " " AND NOT file_licenses STREQUAL license)
      set(license "(${license})")
    endif()
    list(APPEND terms "${license}")
  endforeach()
  if("NOASSERTION" IN_LIST terms)
    set(terms NOASSERTION)
  endif()
  list(JOIN terms " AND " concluded)
  _fatlink_sbom_supplier("${arg_SUPPLIER}" SUPPLIER)
  string(REPLACE "+" "%2B" purl "pkg:generic/${arg_NAME}@${arg_VERSION}")
  _fatlink_sbom_references("${purl}" references)
  foreach(field IN ITEMS NAME VERSION SUMMARY LICENSE)
    _fatlink_json_text("${arg_${field}}" ${field})
  endforeach()
  set(${out} "{\"name\": ${NAME}, \"SPDXID\": \"SPDXRef-Package\", \"versionInfo\": ${VERSION}, \
\"summary\": ${SUMMARY}, \"supplier\": ${SUPPLIER}, ${references}\
\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": true, \
\"packageVerificationCode\": ${verification}, \"licenseDeclared\": ${LICENSE}, \
\"licenseConcluded\": \"${concluded}\", \"copyrightText\": \"NOASSERTION\"}" PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_dependencies caller dependencies)
  set(packages "")
  set(relationships "")
  set(licenses "")
  set(ids "")
  foreach(dependency IN LISTS dependencies)
    _fatlink_parse_sbom_dependency("${caller}: DEPENDS" "${dependency}")
    _fatlink_sbom_id("SPDXRef-Dependency-${dependency_name}-${dependency_version}" id)
    string(REGEX REPLACE "[-.]+$" "" id "${id}")
    if(NOT id IN_LIST ids)
      list(APPEND ids "${id}")
      list(APPEND licenses "${dependency_license}")
      _fatlink_sbom_dependency("${id}" package)
      string(APPEND packages ",\n${package}")
    endif()
    set(elements "SPDXRef-Package;${id}")
    if(dependency_relationship MATCHES "_OF$")
      list(REVERSE elements)
    endif()
    list(GET elements 0 subject)
    list(GET elements 1 object)
    string(APPEND relationships ",\n{\"spdxElementId\": \"${subject}\", \
\"relationshipType\": \"${dependency_relationship}\", \"relatedSpdxElement\": \"${object}\"}")
  endforeach()
  set(dependency_packages "${packages}" PARENT_SCOPE)
  set(dependency_relationships "${relationships}" PARENT_SCOPE)
  set(dependency_licenses "${licenses}" PARENT_SCOPE)
endfunction()

# An organization as JSON.
function(_fatlink_sbom_supplier name out)
  set(supplier NOASSERTION)
  if(NOT name MATCHES "^(NOASSERTION)?$")
    set(supplier "Organization: ${name}")
  endif()
  _fatlink_json_text("${supplier}" supplier)
  set(${out} "${supplier}" PARENT_SCOPE)
endfunction()

# The member externalRefs with a package URL, and a comma; empty without a URL.
function(_fatlink_sbom_references purl out)
  set(${out} "" PARENT_SCOPE)
  if(purl)
    _fatlink_json_text("${purl}" purl)
    set(${out} "\"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \
\"referenceType\": \"purl\", \"referenceLocator\": ${purl}}], " PARENT_SCOPE)
  endif()
endfunction()

# The dependency in the variables dependency_<part> as JSON.
function(_fatlink_sbom_dependency id out)
  _fatlink_sbom_supplier("${dependency_supplier}" supplier)
  _fatlink_sbom_references("${dependency_purl}" references)
  _fatlink_json_text("${dependency_name}" name)
  set(version_info "")
  if(dependency_version)
    _fatlink_json_text("${dependency_version}" version)
    set(version_info "\"versionInfo\": ${version}, ")
  endif()
  set(${out} "{\"name\": ${name}, \"SPDXID\": \"${id}\", ${version_info}\
\"supplier\": ${supplier}, ${references}\
\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \
\"licenseDeclared\": \"${dependency_license}\", \"licenseConcluded\": \"NOASSERTION\", \
\"copyrightText\": \"NOASSERTION\"}" PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_licenses expressions out)
  string(REGEX MATCHALL "LicenseRef-[A-Za-z0-9.-]+" ids "${expressions}")
  list(REMOVE_DUPLICATES ids)
  set(infos "")
  foreach(id IN LISTS ids)
    set(text "See the licence that is distributed with the product.")
    set(details "")
    if(id STREQUAL "LicenseRef-NVIDIA-CUDA-EULA")
      set(text "The End User License Agreement of the NVIDIA CUDA Toolkit, as distributed with the toolkit.")
      set(details ", \"name\": \"NVIDIA CUDA Toolkit End User License Agreement\", \
\"seeAlsos\": [\"https://docs.nvidia.com/cuda/eula/\"]")
    endif()
    list(APPEND infos "{\"licenseId\": \"${id}\", \"extractedText\": \"${text}\"${details}}")
  endforeach()
  set(${out} "" PARENT_SCOPE)
  if(infos)
    list(JOIN infos ",\n" infos)
    set(${out} "\"hasExtractedLicensingInfos\": [\n${infos}\n],\n" PARENT_SCOPE)
  endif()
endfunction()
