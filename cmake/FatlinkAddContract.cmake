# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_contract
--------------------
Declares a contract: the header with a library's hooks, under a name and a version.

  fatlink_add_contract(<name> VERSION <n> HEADER <file> [HOOKS <hook>...]
    [PACKAGE <name> [PACKAGE_VERSION <v>]]
    [INSTALL_DESTINATION <dir> [INSTALL_COMPONENT <name>]])

``VERSION``
  A positive integer; raise it whenever a hook changes.
``HEADER``
  The header that declares the hooks. Relative to the current source directory.
``HOOKS``
  The hooks' names. Default: the device functions that the text of the header declares ``extern "C"``; name
  them where a macro or an included header declares them.
``PACKAGE``, ``PACKAGE_VERSION``
  The package whose library has this contract, and the first version that has it: what someone is
  told to install whose library is older. Defaults: the project's name and version.
``INSTALL_DESTINATION``
  Also installs the contract there, for authors of transforms: ``<name>.cmake``, which declares it
  wherever it lies, and ``<name>/`` with the header. ``find_package(fatlink)`` declares those in
  ``share/fatlink/contracts`` of its own prefix and of each in ``CMAKE_PREFIX_PATH``. A header that
  includes others of its project cannot be installed: it would come alone.
``INSTALL_COMPONENT``
  The component it is installed with. Default: ``development``.

A contract is its name, its version, and its hooks with their exact types: fatbins of the same three fit. The
types are read by compiling the header by itself, as C++17, when a fatbin with this contract is built; comments
and whatever else the header has are no part of it.

Creates the interface target ``fatlink_contract_<name>``, whose properties
``FATLINK_CONTRACT_VERSION``, ``FATLINK_CONTRACT_HEADER``, ``FATLINK_CONTRACT_HOOKS`` and
``FATLINK_CONTRACT_PACKAGE`` ``fatlink_add_fatbin`` reads. Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/package_text.cmake")

function(fatlink_add_contract name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" 
    "VERSION;HEADER;PACKAGE;PACKAGE_VERSION;INSTALL_DESTINATION;INSTALL_COMPONENT" "HOOKS")
  set(me "fatlink_add_contract(${name})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${me}: a contract's name is letters, digits and underscores")
  endif()
  if(NOT arg_VERSION MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "${me}: VERSION must be a positive integer, not '${arg_VERSION}'")
  endif()
  if(NOT arg_HEADER)
    message(FATAL_ERROR "${me}: HEADER is missing")
  endif()
  cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${arg_HEADER}" OR IS_DIRECTORY "${arg_HEADER}")
    message(FATAL_ERROR "${me}: HEADER ${arg_HEADER}: no such file")
  endif()

  foreach(hook IN LISTS arg_HOOKS)
    if(NOT hook MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
      message(FATAL_ERROR "${me}: HOOKS ${hook}: write the name of a function, such as user_transform")
    endif()
  endforeach()
  if("HOOKS" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${me}: no value for HOOKS")
  endif()
  if(TARGET fatlink_contract_${name}_hooks)
    message(FATAL_ERROR "${me}: fatbins of an installed copy of the contract are added already: declare "
      "it before them")
  endif()
  fatlink_package_text("${me}" "${arg_PACKAGE}" "${arg_PACKAGE_VERSION}" package)

  # A contract that the project declares replaces an installed copy of it.
  if(TARGET fatlink_contract_${name})
    get_target_property(installed fatlink_contract_${name} FATLINK_CONTRACT_INSTALLED)
    if(NOT installed)
      message(FATAL_ERROR "${me}: is declared already")
    endif()
  else()
    add_library(fatlink_contract_${name} INTERFACE)
  endif()
  set_property(GLOBAL APPEND PROPERTY FATLINK_CONTRACTS ${name})
  set_target_properties(fatlink_contract_${name} PROPERTIES
    FATLINK_CONTRACT_VERSION "${arg_VERSION}" FATLINK_CONTRACT_HEADER "${arg_HEADER}"
    FATLINK_CONTRACT_PACKAGE "${package}" FATLINK_CONTRACT_HOOKS "${arg_HOOKS}"
    FATLINK_CONTRACT_INSTALLED OFF)
  if(arg_INSTALL_DESTINATION)
    file(STRINGS "${arg_HEADER}" includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    if(includes)
      list(JOIN includes ", " includes)
      message(FATAL_ERROR "${me}: HEADER ${arg_HEADER} would be installed without what it includes "
        "(${includes}), so it would not compile there: a contract is one header")
    endif()
    if(NOT arg_INSTALL_COMPONENT)
      set(arg_INSTALL_COMPONENT development)
    endif()
    _fatlink_write_contract(${name} "${CMAKE_CURRENT_BINARY_DIR}/contracts")
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/contracts/${name}.cmake"
      DESTINATION "${arg_INSTALL_DESTINATION}" COMPONENT "${arg_INSTALL_COMPONENT}")
    install(FILES "${arg_HEADER}"
      DESTINATION "${arg_INSTALL_DESTINATION}/${name}" COMPONENT "${arg_INSTALL_COMPONENT}")
    if(FATLINK_DATA_DIR)  # where a build tree is used like an install tree
      _fatlink_write_contract(${name} "${FATLINK_DATA_DIR}/contracts")
    endif()
  endif()
endfunction()

# <folder>/<name>.cmake, which declares the contract relative to itself, and <folder>/<name>/<header>.
function(_fatlink_write_contract name folder)
  get_target_property(version fatlink_contract_${name} FATLINK_CONTRACT_VERSION)
  get_target_property(header fatlink_contract_${name} FATLINK_CONTRACT_HEADER)
  get_target_property(package fatlink_contract_${name} FATLINK_CONTRACT_PACKAGE)
  set(stated "")
  if(package MATCHES "^([^ ]+) (.+)$")
    set(stated " PACKAGE ${CMAKE_MATCH_1} PACKAGE_VERSION ${CMAKE_MATCH_2}")
  elseif(package)
    set(stated " PACKAGE ${package}")
  endif()
  get_target_property(hooks fatlink_contract_${name} FATLINK_CONTRACT_HOOKS)
  if(hooks)
    list(JOIN hooks " " hooks)
    string(APPEND stated " HOOKS ${hooks}")
  endif()
  cmake_path(GET header FILENAME file)
  file(COPY "${header}" DESTINATION "${folder}/${name}")
  file(CONFIGURE OUTPUT "${folder}/${name}.cmake" @ONLY CONTENT [[
if(NOT TARGET fatlink_contract_@name@)
  fatlink_add_contract(@name@ VERSION @version@
    HEADER "${CMAKE_CURRENT_LIST_DIR}/@name@/@file@"@stated@)
  set_target_properties(fatlink_contract_@name@ PROPERTIES FATLINK_CONTRACT_INSTALLED ON)
endif()
]])
endfunction()
