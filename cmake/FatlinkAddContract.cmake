# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_contract
--------------------
Declares a contract: a header with a name and a version, which declares the hooks of a library. Hooks are the device
functions that the library calls and transforms define.

  fatlink_add_contract(<name> VERSION <n> HEADER <file> [HOOKS <hook>...] [INCLUDES <contract>...]
    [PACKAGE <name> [PACKAGE_VERSION <version>]]
    [INSTALL_DESTINATION <folder> [INSTALL_COMPONENT <name>]])

``VERSION``
  A positive integer. Increase it whenever a hook changes.
``HEADER``
  The header that declares the hooks, relative to the current source directory.
``HOOKS``
  Names of the hooks. Default: the device functions that the text of the header declares ``extern "C"``. List the
  hooks if a macro or an included header declares them.
``INCLUDES``
  Contracts that are already declared, and whose hooks the header declares as well, with the same types. A library of this
  contract then takes transforms of these contracts, such as an operator of one and a key of the other.
``PACKAGE``, ``PACKAGE_VERSION``
  The package that contains the library with this contract, and the first package version with this version of the
  contract. Error messages tell users of an older version to install this package. Default: the project's name and version.
``INSTALL_DESTINATION``
  Also installs the contract for authors of transforms. The installed files are ``<name>.cmake``, which declares the
  contract with paths relative to this file; ``<name>.json``, which ``fatlink compile --contract <name>`` reads; and
  ``<name>/`` with the header. ``find_package(fatlink)`` declares the contracts in ``share/fatlink/contracts`` of its own
  prefix and of each prefix in ``CMAKE_PREFIX_PATH``. Headers that the header includes with quotes are also
  installed; they must be in the folder of the header or in a subfolder.
``INSTALL_COMPONENT``
  The install component. Default: ``development``. Use the component of the library if users compile transforms from
  source at run time.

Two fatbins have the same contract if its name, its version, and the names and exact types of its hooks are equal. Comments
and other code in the header are not part of the contract. When a fatbin with this contract is built, the header is also
compiled without the source, as C++17, to read the types.

The function creates the interface target ``fatlink_contract_<name>`` with the properties ``FATLINK_CONTRACT_VERSION``,
``FATLINK_CONTRACT_HEADER``, ``FATLINK_CONTRACT_HOOKS`` and ``FATLINK_CONTRACT_PACKAGE``, which
``fatlink_add_fatbin`` reads. A contract that the project declares replaces an installed one of the same name.

Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/contracts.cmake")

function(fatlink_add_contract name)
  cmake_parse_arguments(PARSE_ARGV 1 arg ""
    "VERSION;HEADER;PACKAGE;PACKAGE_VERSION;INSTALL_DESTINATION;INSTALL_COMPONENT" "HOOKS;INCLUDES")
  set(caller "fatlink_add_contract(${name})")
  fatlink_check_arguments("${caller}" VERSION HEADER)
  _fatlink_check_contract_arguments("${caller}")
  fatlink_package_text("${caller}" "${arg_PACKAGE}" "${arg_PACKAGE_VERSION}" package)

  _fatlink_add_contract_target("${caller}" ${name})
  set_property(GLOBAL APPEND PROPERTY FATLINK_CONTRACTS ${name})
  set_target_properties(fatlink_contract_${name} PROPERTIES
    FATLINK_CONTRACT_VERSION "${arg_VERSION}" FATLINK_CONTRACT_HEADER "${arg_HEADER}"
    FATLINK_CONTRACT_PACKAGE "${package}" FATLINK_CONTRACT_HOOKS "${arg_HOOKS}"
    FATLINK_CONTRACT_INCLUDES "${includes}"
    FATLINK_CONTRACT_INSTALLED OFF)
  if(arg_INSTALL_DESTINATION)
    _fatlink_install_contract("${caller}" ${name})
  endif()
endfunction()

# Also sets arg_HEADER to an absolute path, and `includes`, in the caller.
function(_fatlink_check_contract_arguments caller)
  set(identifier "^[A-Za-z_][A-Za-z0-9_]*$")
  if(NOT name MATCHES "${identifier}")
    message(FATAL_ERROR "${caller}: a contract's name consists of letters, digits and underscores")
  endif()
  if(NOT arg_VERSION MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "${caller}: VERSION must be a positive integer, not '${arg_VERSION}'")
  endif()
  fatlink_find_file("${caller}" HEADER)
  set(arg_HEADER "${arg_HEADER}" PARENT_SCOPE)
  foreach(hook IN LISTS arg_HOOKS)
    if(NOT hook MATCHES "${identifier}")
      message(FATAL_ERROR "${caller}: HOOKS ${hook}: expected the name of a function, such as user_transform")
    endif()
  endforeach()
  fatlink_check_duplicates("${caller}" HOOKS)
  _fatlink_find_included("${caller}")
  set(includes "${includes}" PARENT_SCOPE)
  fatlink_check_install_component("${caller}")
endfunction()

# Sets `includes` in the caller: <contract>/<version> for each contract of INCLUDES.
function(_fatlink_find_included caller)
  fatlink_check_duplicates("${caller}" INCLUDES)
  set(includes "")
  foreach(contract IN LISTS arg_INCLUDES)
    if(NOT TARGET fatlink_contract_${contract})
      message(FATAL_ERROR "${caller}: INCLUDES ${contract}: unknown contract; declare it first with "
        "fatlink_add_contract(${contract} ...)")
    endif()
    get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
    list(APPEND includes "${contract}/${version}")
  endforeach()
  set(includes "${includes}" PARENT_SCOPE)
endfunction()

# Creates fatlink_contract_<name>, or reuses the target of an installed contract that no fatbin uses yet.
function(_fatlink_add_contract_target caller name)
  if(TARGET fatlink_contract_${name}_hooks)
    message(FATAL_ERROR "${caller}: fatbins already use an installed contract of this name; declare the contract "
      "before them")
  endif()
  if(NOT TARGET fatlink_contract_${name})
    add_library(fatlink_contract_${name} INTERFACE)
    return()
  endif()
  get_target_property(installed fatlink_contract_${name} FATLINK_CONTRACT_INSTALLED)
  if(NOT installed)
    message(FATAL_ERROR "${caller}: the contract is already declared")
  endif()
endfunction()
