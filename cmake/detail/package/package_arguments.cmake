# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
package_arguments
-----------------
Checks the arguments of ``fatlink_add_package`` (``arg_<keyword>`` in the caller) and sets their defaults.

  _fatlink_check_package_arguments(<caller>)
  _fatlink_contract_packages(<caller> <contracts> <out-var>)

``_fatlink_check_package_arguments``
  Makes the paths of files absolute and sets the defaults, in the caller.
``_fatlink_contract_packages``
  Gives the names of the virtual packages that stand for contracts, such as ``fatlink-contract-apply-transform-1``.
#]=======================================================================]
include_guard(GLOBAL)

function(_fatlink_check_package_arguments caller)
  _fatlink_check_package_names("${caller}")
  _fatlink_check_package_texts("${caller}")
  foreach(dependency IN LISTS arg_SBOM)
    _fatlink_check_sbom_dependency("${caller}: SBOM ${dependency}" "${dependency}")
  endforeach()
  _fatlink_find_package_file("${caller}" LICENSE LICENSE)
  if(NOT arg_LICENSE)
    message(WARNING "${caller}: there is no LICENSE, so the package does not state its licence")
  endif()
  _fatlink_find_package_file("${caller}" CHANGELOG CHANGELOG.md)
  _fatlink_find_package_file("${caller}" OVERRIDES "")
  _fatlink_find_package_file("${caller}" DEB_CONTROL "")
  foreach(keyword IN ITEMS DESCRIPTION COPYRIGHT LICENSE CHANGELOG OVERRIDES DEB_CONTROL)
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endforeach()
endfunction()

function(_fatlink_check_package_names caller)
  if(NOT package MATCHES "^[a-z0-9][a-z0-9+.-]+$")
    message(FATAL_ERROR "${caller}: a package's name consists of lower-case letters, digits and + . -")
  endif()
  if(NOT arg_COMPONENT MATCHES "^[A-Za-z0-9_.-]+$")
    message(FATAL_ERROR "${caller}: COMPONENT '${arg_COMPONENT}': a component's name consists of letters, digits "
      "and _ . -")
  endif()
  get_property(components GLOBAL PROPERTY FATLINK_PACKAGED_COMPONENTS)
  if(arg_COMPONENT IN_LIST components)
    message(FATAL_ERROR "${caller}: the component ${arg_COMPONENT} already has a package")
  endif()
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGED_COMPONENTS "${arg_COMPONENT}")
  if(NOT PROJECT_VERSION)
    message(FATAL_ERROR "${caller}: the project has no VERSION, which its packages need")
  endif()
endfunction()

function(_fatlink_check_package_texts caller)
  if(arg_SUMMARY MATCHES "\n")
    message(FATAL_ERROR "${caller}: SUMMARY must be one line; move the rest to DESCRIPTION")
  endif()
  if(arg_LICENSE_ID AND NOT arg_LICENSE_ID MATCHES "^[A-Za-z0-9.+() -]+$")
    message(FATAL_ERROR "${caller}: LICENSE_ID '${arg_LICENSE_ID}': expected an SPDX expression such as MIT")
  endif()
  if(NOT arg_DESCRIPTION)
    set(arg_DESCRIPTION "A package of ${PROJECT_NAME}, for use with fatlink." PARENT_SCOPE)
  endif()
  if(NOT arg_COPYRIGHT)
    set(arg_COPYRIGHT "The authors of ${PROJECT_NAME}" PARENT_SCOPE)
  endif()
endfunction()

function(_fatlink_check_sbom_dependency subject text)
  if(NOT text MATCHES "^([^=]+)=([^=]*)=([^=]+)=([^=]+)(=([^=]*)=(.*))?$")
    message(FATAL_ERROR "${subject}: expected <name>=<version>=<licence>=<relationship>, optionally followed by "
      "=<supplier>=<purl>")
  endif()
  set(relationship "${CMAKE_MATCH_4}")
  set(purl "${CMAKE_MATCH_7}")
  set(relationships DEPENDS_ON STATIC_LINK DYNAMIC_LINK DEPENDENCY_OF OPTIONAL_DEPENDENCY_OF
    RUNTIME_DEPENDENCY_OF BUILD_DEPENDENCY_OF TEST_DEPENDENCY_OF BUILD_TOOL_OF)
  if(NOT relationship IN_LIST relationships)
    list(JOIN relationships ", " relationships)
    message(FATAL_ERROR "${subject}: unknown relationship; expected one of ${relationships}")
  endif()
  if(purl AND NOT purl MATCHES "^pkg:[a-z]+/.+$")
    message(FATAL_ERROR "${subject}: ${purl} is not a package URL (pkg:<type>/<name>)")
  endif()
endfunction()

# Sets arg_<keyword> in the caller: the named files, else <default> beside the project's CMakeLists.txt.
function(_fatlink_find_package_file caller keyword default)
  set(files "${arg_${keyword}}")
  if(NOT files AND default AND EXISTS "${PROJECT_SOURCE_DIR}/${default}")
    set(files "${PROJECT_SOURCE_DIR}/${default}")
  endif()
  set(paths "")
  foreach(path IN LISTS files)
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
      message(FATAL_ERROR "${caller}: ${keyword} ${path}: no such file")
    endif()
    list(APPEND paths "${path}")
  endforeach()
  set(arg_${keyword} "${paths}" PARENT_SCOPE)
endfunction()

function(_fatlink_contract_packages caller contracts packages_out)
  set(packages "")
  foreach(contract IN LISTS contracts)
    if(NOT TARGET fatlink_contract_${contract})
      message(FATAL_ERROR "${caller}: unknown contract ${contract}; call fatlink_add_contract(${contract} ...) first, "
        "or find_package(fatlink) where it is installed")
    endif()
    get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
    string(TOLOWER "fatlink-contract-${contract}-${version}" name)
    string(REPLACE "_" "-" name "${name}")
    list(APPEND packages "${name}")
  endforeach()
  set(${packages_out} "${packages}" PARENT_SCOPE)
endfunction()
