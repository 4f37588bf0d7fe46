# SPDX-License-Identifier: Apache-2.0
# The build step of fatlink_add_fatbin:
#   cmake -DSETTINGS=<file> -DINSPECT=<fatlink program, with the emulator that it needs> -P compile_fatbin.cmake
# Compiles SOURCE with an ident, reads the fatbin back, and adds digests of its entries. The ident is made here
# because the contract's header may change after configuration. Writes BUILT, a fatbin beside which its .json is, only
# if every step succeeds; replace_fatbin.cmake then puts the two in place as FATBIN, which messages name.
cmake_minimum_required(VERSION 3.25)
include("${SETTINGS}")
include("${CMAKE_CURRENT_LIST_DIR}/contracts.cmake")

# The text of one object with the members of two JSON files, which `fatlink inspect` has checked. An empty path is an empty
# object. Where both have a member, as they may have `name` and `summary`, it is that of the plan.
function(fatlink_merge_json reference plan result)
  set(first "{}")
  if(reference)
    file(READ "${reference}" first)
  endif()
  if(NOT plan)
    set(${result} "${first}" PARENT_SCOPE)
    return()
  endif()
  file(READ "${plan}" second)
  foreach(member IN ITEMS name summary)
    string(JSON rest ERROR_VARIABLE error REMOVE "${first}" ${member})
    if(NOT error)
      set(first "${rest}")
    endif()
  endforeach()
  string(JSON count LENGTH "${first}")
  if(count EQUAL 0)
    set(${result} "${second}" PARENT_SCOPE)
    return()
  endif()
  # As text: members that are copied by string(JSON) would lose their escapes.
  string(REGEX REPLACE "}[ \t\r\n]*$" "" first "${first}")
  string(REGEX REPLACE "^[ \t\r\n]*{" "" second "${second}")
  set(${result} "${first},${second}" PARENT_SCOPE)
endfunction()

# "<header>(<line>): <text>" of the first line that declares the hook, or only the header if a macro declares it.
function(_fatlink_declaration_line header hook out)
  file(READ "${header}" text)
  string(REGEX REPLACE "[][;]" " " lines "${text}")  # characters with a meaning in CMake lists
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "(^|[^A-Za-z0-9_])${hook}[ \t]*[(]" AND NOT line MATCHES "^[ \t]*(//|[*]|/[*])")
      string(REGEX REPLACE "[ \t\r]+$" "" line "${line}")
      set(${out} "${header}(${number}): ${line};" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "${header}" PARENT_SCOPE)
endfunction()

# The lines to add to nvcc's output when an error in it names a hook of the contract: the header and the line that declares
# the hook. Empty when no error names a hook. `contract`: <contract>/<version>; `hooks`: JSON.
function(fatlink_name_contract_header output contract header hooks out)
  set(text "")
  string(JSON count ERROR_VARIABLE ignored LENGTH "${hooks}")
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON hook MEMBER "${hooks}" ${index})
    if(output MATCHES "error[^\n]*[^A-Za-z0-9_]${hook}([^A-Za-z0-9_]|$)")
      _fatlink_declaration_line("${header}" ${hook} line)
      string(APPEND text "fatlink: contract ${contract} declares ${hook} in ${line}\n")
    endif()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Stops the build on failure and removes the partial file. Messages name the final file.
function(fatlink_require_success result errors message)
  if(NOT result EQUAL 0)
    file(REMOVE "${partial}")
    string(REPLACE "${partial}" "${FATBIN}" errors "${errors}")
    message("${errors}")
    message(FATAL_ERROR "${message}")
  endif()
endfunction()

list(REMOVE_ITEM OPTIONS "")  # of a generator expression that does not hold
fatlink_check_nvcc_options("${CALLER}" "${OPTIONS}")
fatlink_float_flags("${OPTIONS}" FLOAT_FLAGS)

set(json "{\"fatlink\":1")
if(CONTRACT)
  include("${HOOKS_FILE}")
  file(SHA256 "${HEADER}" digest)
  fatlink_included_contracts_json("${CONTRACT_INCLUDES}" includes)
  string(APPEND json
    ",\"contract\":\"${CONTRACT}\",\"version\":${VERSION},\"header_sha256\":\"${digest}\""
    ",\"contract_package\":\"${CONTRACT_PACKAGE}\",\"hooks\":${CONTRACT_HOOKS}${includes}")
endif()
string(APPEND json ",\"toolkit\":\"${TOOLKIT}\",\"float\":\"${FLOAT_FLAGS}\""
  ",\"package\":\"${PACKAGE}\"}")
fatlink_base64("${json}" ident)

# The long form of -dlto -arch: it accepts several architectures, and adds no generic entries for architectures
# such as 90a and 100f. With -dc the cubins are relocatable.
set(code -dc)
set(expected "")
foreach(architecture IN LISTS ARCHITECTURES)
  list(APPEND code -gencode
    "arch=compute_${architecture},code=[compute_${architecture},lto_${architecture}]")
  list(APPEND expected --expect "ptx:sm_${architecture}" --expect "ltoir:sm_${architecture}")
endforeach()
foreach(architecture IN LISTS SASS)
  list(APPEND code -gencode "arch=compute_${architecture},code=sm_${architecture}")
  list(APPEND expected --expect "elf:sm_${architecture}")
endforeach()

cmake_path(GET BUILT PARENT_PATH output_folder)
file(MAKE_DIRECTORY "${output_folder}")
set(partial "${BUILT}.partial")

# Reproducible paths. nvcc writes the source's path and the current folder into LTO-IR, and derives the names of
# private symbols from the path (observed with CUDA 13.0), so it is given paths that do not depend on the folder.
# Line information for debuggers needs the real paths. LTO-IR also holds the paths of the toolkit's headers, which
# nvcc derives from its own path: an nvcc inside the project is called by a path relative to the source, and so are
# folders and headers inside the project.
cmake_path(GET SOURCE PARENT_PATH folder)
cmake_path(GET SOURCE FILENAME source)
fatlink_line_options("${OPTIONS}" OPTIONS has_lines)
set(source_folder "/proc/self/cwd")
set(stated_path -Xcicc --orig_src_path_name -Xcicc "${STATED_PATH}")
if(has_lines OR NOT STATED_PATH)
  set(source_folder "${folder}")
  set(stated_path "")
endif()
set(nvcc "${NVCC}")
if(RELATIVE_NVCC)
  set(nvcc "${source_folder}/${RELATIVE_NVCC}")
endif()
set(include_contract "")
if(CONTRACT)
  set(include_contract -include "${HEADER}")
endif()
# The strongest compression: zstd at a high level, which every nvJitLink 13 reads.
set(compression -Xfatbin=--compress-mode=size)
if("${OPTIONS}" MATCHES "compress-mode")
  set(compression "")
endif()
set(options -std=c++17 "-I${DEVICE_INCLUDES}" ${include_contract} ${OPTIONS} ${compression})
if(RELATIVE_PROJECT)  # to the source's folder
  foreach(path IN ITEMS "${PROJECT_FOLDER}" "-I${PROJECT_FOLDER}")
    string(LENGTH "${path}/" length)
    string(REPLACE "${PROJECT_FOLDER}" "${source_folder}/${RELATIVE_PROJECT}" relative_path "${path}")
    set(changed "")
    foreach(option IN LISTS options)
      string(SUBSTRING "${option}/" 0 ${length} begin)
      if(begin STREQUAL "${path}/")
        string(REPLACE "${path}" "${relative_path}" option "${option}")
      endif()
      list(APPEND changed "${option}")
    endforeach()
    set(options "${changed}")
  endforeach()
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "PWD=${source_folder}"
          "${nvcc}" -fatbin ${code} ${options} ${stated_path}
          "-Xfatbin=-ident=${ident}" -MD -MF "${DEPFILE}" -MT fatbin -o "${partial}"
          "${source_folder}/${source}"
  WORKING_DIRECTORY "${folder}"
  OUTPUT_VARIABLE log ERROR_VARIABLE log
  RESULT_VARIABLE result)
string(REPLACE "${source_folder}/" "${folder}/" log "${log}")
if(log)
  message("${log}")
endif()
if(NOT result EQUAL 0)
  file(REMOVE "${partial}")
  set(declaration "")
  if(CONTRACT)
    fatlink_name_contract_header("${log}" "${CONTRACT}/${VERSION}" "${HEADER}" "${CONTRACT_HOOKS}" declaration)
  endif()
  if(declaration)
    message("${declaration}")
  endif()
  message(FATAL_ERROR "nvcc failed on ${SOURCE}")
endif()

# The dependency file with real paths. nvcc does not escape spaces in the name of the target.
string(REPLACE " " "\\ " escaped_folder "${folder}")
string(REPLACE " " "\\ " escaped_fatbin "${BUILT}")
file(READ "${DEPFILE}" dependencies)
string(REGEX REPLACE "^fatbin[ \t]*:" "" dependencies "${dependencies}")
string(REPLACE "${source_folder}/" "${escaped_folder}/" dependencies "${dependencies}")
file(WRITE "${DEPFILE}" "${escaped_fatbin} :${dependencies}")

set(expected_hook "")
if(CONTRACT)
  set(expected_hook --expect-hook)
endif()
set(expected_reference "")
if(REFERENCE)
  set(expected_reference --expect-reference "${REFERENCE}")
endif()
set(expected_plan "")
if(PLAN)
  set(expected_plan --expect-plan "${PLAN}")
endif()
execute_process(
  COMMAND ${INSPECT} inspect ${expected} --expect-ident "${ident}" ${expected_hook} ${expected_reference}
          ${expected_plan} "${partial}"
  OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
fatlink_require_success("${result}" "${errors}"
  "${FATBIN} does not hold what was requested, and was not put in place")

# Digests can only be computed from the finished payloads.
execute_process(COMMAND ${INSPECT} digest "${partial}" OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
fatlink_require_success("${result}" "${errors}" "${FATBIN}: the digests cannot be added; the file was not put in place")

# The .json: the reference, the plan and the SHA-256 of the fatbin.
cmake_path(REPLACE_EXTENSION BUILT LAST_ONLY json OUTPUT_VARIABLE sidecar)
fatlink_merge_json("${REFERENCE}" "${PLAN}" json)
file(SHA256 "${partial}" digest)
string(JSON json ERROR_VARIABLE error SET "${json}" sha256 "\"${digest}\"")
if(error)
  file(REMOVE "${partial}")
  message(FATAL_ERROR "${REFERENCE} ${PLAN}: not a JSON object: ${error}")
endif()
file(WRITE "${sidecar}" "${json}\n")
file(RENAME "${partial}" "${BUILT}")
