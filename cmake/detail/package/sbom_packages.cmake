# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_packages
-------------
The package and what it is made of, for ``fatlink_write_sbom``.

  _fatlink_sbom_package(<out-var>)           by the caller's variables
  _fatlink_sbom_dependencies(<me> <list>)    sets ``dependency_packages``,
                                             ``dependency_relationships``, ``dependency_licenses``
  _fatlink_sbom_licenses(<list> <out-var>)   the texts of licences that SPDX has no name for
#]=======================================================================]
include_guard(GLOBAL)

# What is in the package under several licences is under all of them.
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

function(_fatlink_sbom_dependencies me dependencies)
  set(allowed DEPENDS_ON STATIC_LINK DYNAMIC_LINK DEPENDENCY_OF OPTIONAL_DEPENDENCY_OF
    RUNTIME_DEPENDENCY_OF BUILD_DEPENDENCY_OF TEST_DEPENDENCY_OF BUILD_TOOL_OF)
  set(packages "")
  set(relationships "")
  set(licenses "")
  set(known "")
  foreach(dependency IN LISTS dependencies)
    if(NOT dependency MATCHES "^([^=]+)=([^=]*)=([^=]+)=([^=]+)(=([^=]*)=(.*))?$")
      message(FATAL_ERROR "${me}: DEPENDS ${dependency}: "
        "is not <name>=<version>=<licence>=<relationship>, or that and =<supplier>=<purl>")
    endif()
    set(name "${CMAKE_MATCH_1}")
    set(version "${CMAKE_MATCH_2}")
    set(license "${CMAKE_MATCH_3}")
    set(relationship "${CMAKE_MATCH_4}")
    set(supplier "${CMAKE_MATCH_6}")
    set(purl "${CMAKE_MATCH_7}")
    if(purl AND NOT purl MATCHES "^pkg:[a-z]+/.+$")
      message(FATAL_ERROR "${me}: DEPENDS ${dependency}: ${purl} is no package URL (pkg:<type>/<name>)")
    endif()
    if(NOT relationship IN_LIST allowed)
      list(JOIN allowed ", " allowed)
      message(FATAL_ERROR "${me}: DEPENDS ${dependency}: the relationship is none of ${allowed}")
    endif()
    _fatlink_sbom_id("SPDXRef-Dependency-${name}-${version}" id)
    string(REGEX REPLACE "[-.]+$" "" id "${id}")
    if(NOT id IN_LIST known)
      list(APPEND known "${id}")
      list(APPEND licenses "${license}")
      _fatlink_sbom_dependency("${id}" "${name}" "${version}" "${license}" "${supplier}" "${purl}" package)
      string(APPEND packages ",\n${package}")
    endif()
    set(ends "SPDXRef-Package;${id}")
    if(relationship MATCHES "_OF$")
      list(REVERSE ends)
    endif()
    list(GET ends 0 from)
    list(GET ends 1 to)
    string(APPEND relationships ",\n{\"spdxElementId\": \"${from}\", \
\"relationshipType\": \"${relationship}\", \"relatedSpdxElement\": \"${to}\"}")
  endforeach()
  set(dependency_packages "${packages}" PARENT_SCOPE)
  set(dependency_relationships "${relationships}" PARENT_SCOPE)
  set(dependency_licenses "${licenses}" PARENT_SCOPE)
endfunction()

# An organization, as JSON.
function(_fatlink_sbom_supplier name out)
  set(supplier NOASSERTION)
  if(NOT name MATCHES "^(NOASSERTION)?$")
    set(supplier "Organization: ${name}")
  endif()
  _fatlink_json_text("${supplier}" supplier)
  set(${out} "${supplier}" PARENT_SCOPE)
endfunction()

# The member with a package's URL, and a comma; nothing without one.
function(_fatlink_sbom_references purl out)
  set(${out} "" PARENT_SCOPE)
  if(purl)
    _fatlink_json_text("${purl}" purl)
    set(${out} "\"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \
\"referenceType\": \"purl\", \"referenceLocator\": ${purl}}], " PARENT_SCOPE)
  endif()
endfunction()

function(_fatlink_sbom_dependency id name version license supplier purl out)
  _fatlink_sbom_supplier("${supplier}" supplier)
  _fatlink_sbom_references("${purl}" references)
  _fatlink_json_text("${name}" name)
  set(version_info "")
  if(version)
    _fatlink_json_text("${version}" version)
    set(version_info "\"versionInfo\": ${version}, ")
  endif()
  set(${out} "{\"name\": ${name}, \"SPDXID\": \"${id}\", ${version_info}\
\"supplier\": ${supplier}, ${references}\
\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \
\"licenseDeclared\": \"${license}\", \"licenseConcluded\": \"NOASSERTION\", \
\"copyrightText\": \"NOASSERTION\"}" PARENT_SCOPE)
endfunction()

function(_fatlink_sbom_licenses expressions out)
  string(REGEX MATCHALL "LicenseRef-[A-Za-z0-9.-]+" ids "${expressions}")
  list(REMOVE_DUPLICATES ids)
  set(infos "")
  foreach(id IN LISTS ids)
    set(text "A licence of its own, which comes with the product.")
    set(more "")
    if(id STREQUAL "LicenseRef-NVIDIA-CUDA-EULA")
      set(text "The End User License Agreement of the NVIDIA CUDA Toolkit, as the toolkit has it.")
      set(more ", \"name\": \"NVIDIA CUDA Toolkit End User License Agreement\", \
\"seeAlsos\": [\"https://docs.nvidia.com/cuda/eula/\"]")
    endif()
    list(APPEND infos "{\"licenseId\": \"${id}\", \"extractedText\": \"${text}\"${more}}")
  endforeach()
  set(${out} "" PARENT_SCOPE)
  if(infos)
    list(JOIN infos ",\n" infos)
    set(${out} "\"hasExtractedLicensingInfos\": [\n${infos}\n],\n" PARENT_SCOPE)
  endif()
endfunction()
