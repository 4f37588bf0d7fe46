# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
sbom_dependency
---------------
Parses one dependency of an SPDX document.

  _fatlink_parse_sbom_dependency(<caller> <text>)

``<text>`` is ``<name>=<version>=<licence>=<relationship>[=<supplier>=<purl>]``; version, supplier and purl may be
empty, and the purl may contain ``=``. Sets ``dependency_<part>`` in the caller for ``name``, ``version``,
``license``, ``relationship``, ``supplier`` and ``purl``. A malformed text stops CMake with a message that begins
with ``<caller>``.
#]=======================================================================]
include_guard(GLOBAL)

function(_fatlink_parse_sbom_dependency caller text)
  if(NOT text MATCHES "^([^=]+)=([^=]*)=([^=]+)=([^=]+)(=([^=]*)=(.*))?$")
    message(FATAL_ERROR "${caller} ${text}: expected <name>=<version>=<licence>=<relationship>, optionally followed "
      "by =<supplier>=<purl>")
  endif()
  set(dependency_name "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(dependency_version "${CMAKE_MATCH_2}" PARENT_SCOPE)
  set(dependency_license "${CMAKE_MATCH_3}" PARENT_SCOPE)
  set(relationship "${CMAKE_MATCH_4}")
  set(dependency_relationship "${relationship}" PARENT_SCOPE)
  set(dependency_supplier "${CMAKE_MATCH_6}" PARENT_SCOPE)
  set(purl "${CMAKE_MATCH_7}")
  set(dependency_purl "${purl}" PARENT_SCOPE)
  set(relationships DEPENDS_ON STATIC_LINK DYNAMIC_LINK DEPENDENCY_OF OPTIONAL_DEPENDENCY_OF
    RUNTIME_DEPENDENCY_OF BUILD_DEPENDENCY_OF TEST_DEPENDENCY_OF BUILD_TOOL_OF)
  if(NOT relationship IN_LIST relationships)
    list(JOIN relationships ", " relationships)
    message(FATAL_ERROR "${caller} ${text}: unknown relationship; expected one of ${relationships}")
  endif()
  if(purl AND NOT purl MATCHES "^pkg:[a-z]+/.+$")
    message(FATAL_ERROR "${caller} ${text}: ${purl} is not a package URL (pkg:<type>/<name>)")
  endif()
endfunction()
