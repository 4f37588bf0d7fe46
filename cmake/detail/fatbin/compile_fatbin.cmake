# SPDX-License-Identifier: Apache-2.0
# The build step of fatlink_add_fatbin:
#   cmake -DSETTINGS=<file> -DINSPECT=<fatlink program> -P compile_fatbin.cmake
# Compiles SOURCE, with an ident made now (the contract's header may have changed since
# configuration), reads the fatbin back, and adds digests of its entries. The fatbin appears only when all went well.
cmake_minimum_required(VERSION 3.25)
include("${SETTINGS}")
include("${CMAKE_CURRENT_LIST_DIR}/base64.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/line_options.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/name_contract_header.cmake")

set(json "{\"fatlink\":1")
if(CONTRACT)
  include("${HOOKS_FILE}")
  file(SHA256 "${HEADER}" digest)
  string(APPEND json
    ",\"contract\":\"${CONTRACT}\",\"version\":${VERSION},\"header_sha256\":\"${digest}\""
    ",\"contract_package\":\"${CONTRACT_PACKAGE}\",\"hooks\":${CONTRACT_HOOKS}")
endif()
string(APPEND json ",\"toolkit\":\"${TOOLKIT}\",\"float\":\"${FLOAT_FLAGS}\""
  ",\"package\":\"${PACKAGE}\"}")
fatlink_base64("${json}" ident)

# The long form of -dlto -arch: it takes several architectures, and adds no generic entries to
# an `a` or `f` one.
set(code -dc)
set(expected "")
foreach(architecture IN LISTS ARCHITECTURES)
  list(APPEND code -gencode
    "arch=compute_${architecture},code=[compute_${architecture},lto_${architecture}]")
  list(APPEND expected --expect "ptx:sm_${architecture}" --expect "ltoir:sm_${architecture}")
endforeach()

cmake_path(GET FATBIN PARENT_PATH output_folder)
file(MAKE_DIRECTORY "${output_folder}")
set(made "${FATBIN}.partial")
file(REMOVE "${FATBIN}")

# The source's path and the current folder go into LTO-IR, and names of what is private to a source are
# made of the path (measured: CUDA 13.0). Under names that are the same everywhere, a fatbin is the same
# bytes wherever it is built. Lines for a debugger need the real ones. The paths of the toolkit's headers go
# into LTO-IR, too; nvcc makes them of its own: one in the project is called by its way from the source.
cmake_path(GET SOURCE PARENT_PATH folder)
cmake_path(GET SOURCE FILENAME source)
fatlink_line_options("${OPTIONS}" OPTIONS has_lines)
set(here "/proc/self/cwd")
set(stated_path -Xcicc --orig_src_path_name -Xcicc "${STATED_PATH}")
if(has_lines OR NOT STATED_PATH)
  set(here "${folder}")
  set(stated_path "")
endif()
set(nvcc "${NVCC}")
if(RELATIVE_NVCC)
  set(nvcc "${here}/${RELATIVE_NVCC}")
endif()
set(include_contract "")
if(CONTRACT)
  set(include_contract -include "${HEADER}")
  if(RELATIVE_HEADER)  # from the source's folder
    set(include_contract -include "${here}/${RELATIVE_HEADER}")
  endif()
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "PWD=${here}"
          "${nvcc}" -fatbin ${code} -std=c++17 ${include_contract} ${stated_path} ${OPTIONS}
          "-Xfatbin=-ident=${ident}" -MD -MF "${DEPFILE}" -MT fatbin -o "${made}"
          "${here}/${source}"
  WORKING_DIRECTORY "${folder}"
  OUTPUT_VARIABLE said ERROR_VARIABLE said
  RESULT_VARIABLE result)
string(REPLACE "${here}/" "${folder}/" said "${said}")
if(said)
  message("${said}")
endif()
if(NOT result EQUAL 0)
  file(REMOVE "${made}")
  set(declaration "")
  if(CONTRACT)
    fatlink_name_contract_header("${said}" "${CONTRACT}/${VERSION}" "${HEADER}" "${CONTRACT_HOOKS}" declaration)
  endif()
  if(declaration)
    message("${declaration}")
  endif()
  message(FATAL_ERROR "nvcc failed on ${SOURCE}")
endif()

# Real names, their spaces escaped, which nvcc does not do to a target.
string(REPLACE " " "\\ " escaped_folder "${folder}")
string(REPLACE " " "\\ " escaped_fatbin "${FATBIN}")
file(READ "${DEPFILE}" dependencies)
string(REGEX REPLACE "^fatbin[ \t]*:" "" dependencies "${dependencies}")
string(REPLACE "${here}/" "${escaped_folder}/" dependencies "${dependencies}")
file(WRITE "${DEPFILE}" "${escaped_fatbin} :${dependencies}")

# A failure names the fatbin as it would be called, and leaves none.
function(fatlink_require_success result errors message)
  if(NOT result EQUAL 0)
    file(REMOVE "${made}")
    string(REPLACE "${made}" "${FATBIN}" errors "${errors}")
    message("${errors}")
    message(FATAL_ERROR "${message}")
  endif()
endfunction()

set(expected_hook "")
if(CONTRACT)
  set(expected_hook --expect-hook)
endif()
set(expected_reference "")
if(REFERENCE)
  set(expected_reference --expect-reference "${REFERENCE}")
endif()
execute_process(
  COMMAND "${INSPECT}" inspect ${expected} --expect-ident "${ident}" ${expected_hook} ${expected_reference} "${made}"
  OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
fatlink_require_success("${result}" "${errors}" "${FATBIN} is not what was asked for, and is not kept")

# The second pass: digests of the entries, which only the finished payloads give.
execute_process(COMMAND "${INSPECT}" digest "${made}" OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
fatlink_require_success("${result}" "${errors}" "${FATBIN}: its digests cannot be added, and it is not kept")

# Its .json: the reference, and what the bytes are.
cmake_path(REPLACE_EXTENSION FATBIN LAST_ONLY json OUTPUT_VARIABLE beside)
set(json "{}")
if(REFERENCE)
  file(READ "${REFERENCE}" json)
endif()
file(SHA256 "${made}" digest)
string(JSON json ERROR_VARIABLE error SET "${json}" sha256 "\"${digest}\"")
if(error)
  file(REMOVE "${made}")
  message(FATAL_ERROR "${REFERENCE}: is no JSON object: ${error}")
endif()
file(WRITE "${beside}" "${json}\n")
file(RENAME "${made}" "${FATBIN}")
