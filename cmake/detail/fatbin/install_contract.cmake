# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
install_contract
----------------
Installs a contract for authors of transforms, for ``fatlink_add_contract``.

  _fatlink_install_contract(<caller> <name>)

Reads ``arg_HEADER``, ``arg_INSTALL_DESTINATION`` and ``arg_INSTALL_COMPONENT`` of the caller, and the properties of
``fatlink_contract_<name>``. Headers that the header includes with quotes are installed with it.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/contract_headers.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/scan_hooks.cmake")

function(_fatlink_install_contract caller name)
  fatlink_contract_headers("${caller}" "${arg_HEADER}" headers)
  if(NOT arg_INSTALL_COMPONENT)
    set(arg_INSTALL_COMPONENT development)
  endif()
  _fatlink_write_contract(${name} "${CMAKE_CURRENT_BINARY_DIR}/contracts")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/contracts/${name}.cmake"
                "${CMAKE_CURRENT_BINARY_DIR}/contracts/${name}.json"
    DESTINATION "${arg_INSTALL_DESTINATION}" COMPONENT "${arg_INSTALL_COMPONENT}")
  cmake_path(GET arg_HEADER PARENT_PATH header_folder)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH subfolder)
    install(FILES "${header_folder}/${header}"
      DESTINATION "${arg_INSTALL_DESTINATION}/${name}/${subfolder}" COMPONENT "${arg_INSTALL_COMPONENT}")
  endforeach()
  if(FATLINK_DATA_DIR)  # set when the build tree has the layout of the install tree
    _fatlink_write_contract(${name} "${FATLINK_DATA_DIR}/contracts")
  endif()
endfunction()

# Writes <folder>/<name>.cmake, which declares the contract relative to itself, <folder>/<name>.json, which
# `fatlink compile` reads, and <folder>/<name>/ with the `headers` of the caller.
function(_fatlink_write_contract name folder)
  foreach(property IN ITEMS VERSION HEADER PACKAGE HOOKS)
    get_target_property(${property} fatlink_contract_${name} FATLINK_CONTRACT_${property})
  endforeach()
  set(options "")
  if(PACKAGE MATCHES "^([^ ]+) (.+)$")
    set(options " PACKAGE ${CMAKE_MATCH_1} PACKAGE_VERSION ${CMAKE_MATCH_2}")
  elseif(PACKAGE)
    set(options " PACKAGE ${PACKAGE}")
  endif()
  if(HOOKS)
    list(JOIN HOOKS " " hooks)
    string(APPEND options " HOOKS ${hooks}")
  endif()
  cmake_path(GET HEADER FILENAME file)
  _fatlink_write_contract_json("${folder}" ${name} "${file}")
  cmake_path(GET HEADER PARENT_PATH header_folder)
  foreach(header IN LISTS headers)
    configure_file("${header_folder}/${header}" "${folder}/${name}/${header}" COPYONLY)
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/${name}.cmake" @ONLY CONTENT [[
if(NOT TARGET fatlink_contract_@name@)
  fatlink_add_contract(@name@ VERSION @VERSION@
    HEADER "${CMAKE_CURRENT_LIST_DIR}/@name@/@file@"@options@)
  set_target_properties(fatlink_contract_@name@ PROPERTIES FATLINK_CONTRACT_INSTALLED ON)
endif()
]])
endfunction()

# Reads VERSION, HEADER, PACKAGE and HOOKS of the caller. Hooks that a macro declares must be listed with HOOKS.
function(_fatlink_write_contract_json folder name file)
  if(NOT HOOKS)
    file(READ "${HEADER}" text)
    fatlink_scan_hooks("${text}" HOOKS)
  endif()
  list(TRANSFORM HOOKS PREPEND "\"")
  list(TRANSFORM HOOKS APPEND "\"")
  list(JOIN HOOKS "," hooks)
  file(CONFIGURE OUTPUT "${folder}/${name}.json" @ONLY CONTENT
    [[{"fatlink_contract":1,"contract":"@name@","version":@VERSION@,"header":"@name@/@file@","hooks":[@hooks@],"package":"@PACKAGE@"}
]])
endfunction()
