# SPDX-License-Identifier: Apache-2.0
# The build step of fatlink_add_fatbin:
#   cmake -DSETTINGS=<file> -DINSPECT=<fatlink program> -P compile_fatbin.cmake
# Compiles SOURCE, with an ident made now (the contract's header may have changed since
# configuration), and reads the fatbin back. The fatbin appears only when all went well.
cmake_minimum_required(VERSION 3.25)
include("${SETTINGS}")
include("${CMAKE_CURRENT_LIST_DIR}/base64.cmake")

set(json "{\"fatlink\":1")
set(include_contract "")
if(CONTRACT)
  file(SHA256 "${HEADER}" digest)
  string(APPEND json
    ",\"contract\":\"${CONTRACT}\",\"version\":${VERSION},\"header_sha256\":\"${digest}\"")
  set(include_contract -include "${HEADER}")
endif()
string(APPEND json ",\"toolkit\":\"${TOOLKIT}\",\"float\":\"${FLOAT_FLAGS}\"}")
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

execute_process(
  COMMAND "${NVCC}" -fatbin ${code} -std=c++17 ${include_contract} ${OPTIONS}
          "-Xfatbin=-ident=${ident}" -MD -MF "${DEPFILE}" -MT "${FATBIN}" -o "${made}" "${SOURCE}"
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  file(REMOVE "${made}")
  message(FATAL_ERROR "nvcc failed on ${SOURCE}")
endif()

execute_process(COMMAND "${INSPECT}" inspect ${expected} "${made}"
  OUTPUT_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  file(REMOVE "${made}")
  message(FATAL_ERROR "${FATBIN}: an entry that was asked for is missing")
endif()

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
