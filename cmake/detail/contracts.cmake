# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
contracts
---------
Reads the hooks of contracts, and installs contracts for authors of transforms.

  fatlink_contract_hooks(<contract> <out-file> <out-target>)
  _fatlink_install_contract(<caller> <name>)
  fatlink_contract_headers(<caller> <header> <out-var>)
  fatlink_included_contracts_json(<contracts> <out-var>)
  fatlink_scan_hooks(<text> <out-var>)

``fatlink_contract_hooks``
  Adds the build step that reads the hooks of a contract (``read_contract.cmake``). All fatbins of the contract share it.
  The target, ``fatlink_contract_<contract>_hooks``, writes the file, which sets ``CONTRACT_HOOKS`` when it is included.
``_fatlink_install_contract``
  Installs a contract, for ``fatlink_add_contract``. Reads ``arg_HEADER``, ``arg_INSTALL_DESTINATION`` and
  ``arg_INSTALL_COMPONENT`` of the caller, and the properties of ``fatlink_contract_<name>``. Headers that the header
  includes with quotes are installed with it.
``fatlink_contract_headers``
  Gives the header of a contract and all headers that it includes with quotes, as paths relative to its folder. Such a
  header must be in that folder or below it, so that the contract can be copied as a whole. A quoted header that does not
  exist there, or is outside of the folder, stops configuration.
``fatlink_included_contracts_json``
  Gives the member "includes" of an ident, with a comma before it, for a list of ``<contract>/<version>``; empty for an
  empty list.
``fatlink_scan_hooks``
  Gives the names of the hooks in a contract's header: the device functions that it declares ``extern "C"``, singly or
  in a block. Preprocessor conditions are not evaluated, and macros are not expanded.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/nvcc.cmake")

function(fatlink_contract_hooks contract file_out target_out)
  set(interface fatlink_contract_${contract})
  set(target ${interface}_hooks)
  set(${target_out} ${target} PARENT_SCOPE)
  if(TARGET ${target})
    get_target_property(output ${interface} FATLINK_CONTRACT_HOOKS_FILE)
    set(${file_out} "${output}" PARENT_SCOPE)
    return()
  endif()
  get_target_property(header ${interface} FATLINK_CONTRACT_HEADER)
  get_target_property(version ${interface} FATLINK_CONTRACT_VERSION)
  get_target_property(hooks ${interface} FATLINK_CONTRACT_HOOKS)
  set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(output "${base}.cmake")
  set(depfile "${output}.d")
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/read_contract.cmake")
  _fatlink_included_hooks(${interface} included_contracts included_files included_targets)
  fatlink_device_includes(device_includes)
  file(CONFIGURE OUTPUT "${base}.settings.cmake" @ONLY CONTENT [[
set(NVCC [==[@CUDAToolkit_NVCC_EXECUTABLE@]==])
set(CONTRACT [==[@contract@]==])
set(VERSION [==[@version@]==])
set(HEADER [==[@header@]==])
set(HOOKS [==[@hooks@]==])
set(INCLUDED_CONTRACTS [==[@included_contracts@]==])
set(INCLUDED_FILES [==[@included_files@]==])
set(OUTPUT [==[@output@]==])
set(DEPFILE [==[@depfile@]==])
set(DEVICE_INCLUDES [==[@device_includes@]==])
]])
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DSETTINGS=${base}.settings.cmake" -P "${script}"
    DEPENDS "${header}" "${base}.settings.cmake" "${script}" ${included_files} ${included_targets}
            "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/contracts.cmake"
    DEPFILE "${depfile}"
    COMMENT "Reading the hooks of contract ${contract}/${version}"
    VERBATIM)
  add_custom_target(${target} DEPENDS "${output}")
  set_target_properties(${interface} PROPERTIES FATLINK_CONTRACT_HOOKS_FILE "${output}")
  set(${file_out} "${output}" PARENT_SCOPE)
endfunction()

# The contracts that a contract includes, the files with their hooks, and the targets that write these. An installed contract
# may include one that is not declared here; it was compared when it was built.
function(_fatlink_included_hooks interface contracts_out files_out targets_out)
  get_target_property(includes ${interface} FATLINK_CONTRACT_INCLUDES)
  set(contracts "")
  set(files "")
  set(targets "")
  foreach(included IN LISTS includes)
    string(REGEX REPLACE "/[0-9]+$" "" contract "${included}")
    if(TARGET fatlink_contract_${contract})
      fatlink_contract_hooks(${contract} file target)
      list(APPEND contracts ${contract})
      list(APPEND files "${file}")
      list(APPEND targets ${target})
    endif()
  endforeach()
  set(${contracts_out} "${contracts}" PARENT_SCOPE)
  set(${files_out} "${files}" PARENT_SCOPE)
  set(${targets_out} "${targets}" PARENT_SCOPE)
endfunction()

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
  foreach(property IN ITEMS VERSION HEADER PACKAGE HOOKS INCLUDES)
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
  set_target_properties(fatlink_contract_@name@ PROPERTIES
    FATLINK_CONTRACT_INSTALLED ON FATLINK_CONTRACT_INCLUDES "@INCLUDES@")
endif()
]])
endfunction()

# Reads VERSION, HEADER, PACKAGE, HOOKS and INCLUDES of the caller. Hooks that a macro declares must be listed with HOOKS.
function(_fatlink_write_contract_json folder name file)
  if(NOT HOOKS)
    file(READ "${HEADER}" text)
    fatlink_scan_hooks("${text}" HOOKS)
  endif()
  list(TRANSFORM HOOKS PREPEND "\"")
  list(TRANSFORM HOOKS APPEND "\"")
  list(JOIN HOOKS "," hooks)
  fatlink_included_contracts_json("${INCLUDES}" includes)
  file(CONFIGURE OUTPUT "${folder}/${name}.json" @ONLY CONTENT
    [[{"fatlink_contract":1,"contract":"@name@","version":@VERSION@,"header":"@name@/@file@","hooks":[@hooks@]@includes@,"package":"@PACKAGE@"}
]])
endfunction()

function(fatlink_included_contracts_json contracts out)
  string(REGEX REPLACE "([^;/]+)/([0-9]+)" "\"\\1\":\\2" members "${contracts}")
  list(JOIN members "," members)
  if(members)
    set(members ",\"includes\":{${members}}")
  endif()
  set(${out} "${members}" PARENT_SCOPE)
endfunction()

function(fatlink_contract_headers caller header out)
  cmake_path(GET header PARENT_PATH folder)
  set(pending "${header}")
  set(headers "")
  while(pending)
    list(POP_FRONT pending file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
    list(APPEND headers "${name}")
    _fatlink_quoted_includes("${caller}" "${folder}" "${file}" includes)
    foreach(include IN LISTS includes)
      cmake_path(RELATIVE_PATH include BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
      if(NOT name IN_LIST headers AND NOT include IN_LIST pending)
        list(APPEND pending "${include}")
      endif()
    endforeach()
  endwhile()
  set(${out} "${headers}" PARENT_SCOPE)
endfunction()

# The files that `file` includes with quotes, looked up in its own folder.
function(_fatlink_quoted_includes caller folder file out)
  set(includes "")
  file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"[^\"]+\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\".*" "\\1" name "${line}")
    cmake_path(GET file PARENT_PATH include)
    cmake_path(APPEND include "${name}")
    cmake_path(NORMAL_PATH include)
    cmake_path(IS_PREFIX folder "${include}" NORMALIZE is_inside)
    if(NOT is_inside OR NOT EXISTS "${include}")
      message(FATAL_ERROR "${caller}: HEADER ${file} includes \"${name}\", which is not a file in the folder of the "
        "contract's header (${folder}) or below it: an installed contract would not compile; move it there")
    endif()
    list(APPEND includes "${include}")
  endforeach()
  set(${out} "${includes}" PARENT_SCOPE)
endfunction()

# The tokens of a text without comments, preprocessor lines and string literals, and without list separators.
function(_fatlink_tokens text out)
  string(REPLACE "\\\n" " " text "${text}")
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" " " text "${text}")
  string(REGEX REPLACE "(^|\n)[ \t]*#[^\n]*" "\n" text "${text}")
  string(REGEX REPLACE "extern[ \t\r\n]+\"C\"" " extern_C " text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" " " text "${text}")
  foreach(character IN ITEMS "[" "]" "\\")
    string(REPLACE "${character}" " " text "${text}")
  endforeach()
  string(REPLACE ";" " end_of_statement " text "${text}")
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[^A-Za-z0-9_ \t\r\n]" tokens "${text}")
  set(${out} "${tokens}" PARENT_SCOPE)
endfunction()

# The function that a statement declares: the name before its first parameter list. Empty if it declares none.
function(_fatlink_declared_hook statement out)
  set(${out} "" PARENT_SCOPE)
  if(NOT "__device__" IN_LIST statement)
    return()
  endif()
  foreach(specifier IN ITEMS static template typedef using __global__)
    if(specifier IN_LIST statement)
      return()
    endif()
  endforeach()
  # Attributes may have parentheses, which must not be taken for the parameter list.
  list(JOIN statement " " text)
  string(REGEX REPLACE "(__attribute__|__declspec|alignas|__launch_bounds__) [(][^()]*([(][^()]*([(][^()]*[)][^()]*)*[)][^()]*)*[)]" " "
    text "${text}")
  if(text MATCHES "([A-Za-z_][A-Za-z0-9_]*) [(]")
    set(name "${CMAKE_MATCH_1}")
    if(NOT text MATCHES "^[^(]*[(] [*&]")  # a variable: a pointer to a function
      set(${out} "${name}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(fatlink_scan_hooks text out)
  _fatlink_tokens("${text}" tokens)
  set(hooks "")
  set(statement "")
  set(blocks "")  # kind of each open block: C (extern "C"), outer (namespace) or body (function, class)
  set(bodies 0)   # number of open blocks of kind body
  foreach(token IN LISTS tokens)
    if(token STREQUAL "}")
      list(POP_BACK blocks block)
      if(block STREQUAL "body")
        math(EXPR bodies "${bodies} - 1")
      endif()
      set(statement "")
    elseif(token STREQUAL "{" OR token STREQUAL "end_of_statement")
      if(bodies EQUAL 0 AND ("extern_C" IN_LIST statement OR "C" IN_LIST blocks))
        _fatlink_declared_hook("${statement}" hook)
        list(APPEND hooks ${hook})
      endif()
      if(token STREQUAL "{")
        if("${statement}" STREQUAL "extern_C")
          list(APPEND blocks C)
        elseif("namespace" IN_LIST statement)
          list(APPEND blocks outer)
        else()
          list(APPEND blocks body)
          math(EXPR bodies "${bodies} + 1")
        endif()
      endif()
      set(statement "")
    else()
      list(APPEND statement "${token}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES hooks)
  list(SORT hooks)
  set(${out} "${hooks}" PARENT_SCOPE)
endfunction()
