# SPDX-License-Identifier: Apache-2.0
# The build step that reads a contract's header:
#   cmake -DSETTINGS=<file> -P read_contract.cmake
# Writes OUTPUT, which sets CONTRACT_HOOKS to a JSON object of the hooks of HEADER and their mangled types. The types
# come from the compiler: the header is compiled together with one function per hook whose parameter is a pointer to
# the hook, and the type is read from the mangled name of that function.
cmake_minimum_required(VERSION 3.25)
include("${SETTINGS}")
include("${CMAKE_CURRENT_LIST_DIR}/contracts.cmake")
set(subject "${HEADER}: contract ${CONTRACT}/${VERSION}")
file(REMOVE "${OUTPUT}")

if(NOT HOOKS)
  file(READ "${HEADER}" text)
  fatlink_scan_hooks("${text}" HOOKS)
endif()
if(NOT HOOKS)
  message(FATAL_ERROR "${subject} declares no hook: declare a device function extern \"C\", or list the "
    "hooks with fatlink_add_contract(${CONTRACT} ... HOOKS <name>...) if a macro or another header declares them")
endif()

set(probe "${OUTPUT}.cu")
set(ptx "${OUTPUT}.ptx")
set(text "#include \"${HEADER}\"\n")
set(index 0)
foreach(hook IN LISTS HOOKS)
  string(APPEND text "__device__ void fatlink_hook_${index}(decltype(${hook})*) {}\n"
    "__device__ void* fatlink_address_${index} = (void*)&${hook};\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${probe}" "${text}")
execute_process(
  COMMAND "${NVCC}" -ptx -rdc=true -std=c++17 "-I${DEVICE_INCLUDES}" -MD -MF "${DEPFILE}" -MT hooks -o "${ptx}" "${probe}"
  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  list(JOIN HOOKS ", " names)
  message("${log}")
  message(FATAL_ERROR "${subject}: cannot read the types of its hooks (${names}): the header must compile on "
    "its own as C++17 and declare each hook as a device function, extern \"C\", outside of namespaces")
endif()

file(READ "${ptx}" ptx_text)
set(members "")
set(index 0)
foreach(hook IN LISTS HOOKS)
  string(LENGTH "fatlink_hook_${index}" length)
  if(NOT ptx_text MATCHES "[.]func[^;{]*[ \t\n]${hook}[ \t\n]*[(\n]" OR
     NOT ptx_text MATCHES "_Z${length}fatlink_hook_${index}P([A-Za-z0-9_]+)")
    message(FATAL_ERROR "${subject}: ${hook} is not a device function that it declares extern \"C\"")
  endif()
  string(REGEX MATCH "_Z${length}fatlink_hook_${index}P([A-Za-z0-9_]+)" ignored "${ptx_text}")
  list(APPEND members "\"${hook}\":\"${CMAKE_MATCH_1}\"")
  math(EXPR index "${index} + 1")
endforeach()
list(JOIN members "," members)

# A hook of an included contract that is missing or differs would be refused at every link.
foreach(included file IN ZIP_LISTS INCLUDED_CONTRACTS INCLUDED_FILES)
  include("${file}")
  string(JSON count LENGTH "${CONTRACT_HOOKS}")
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON hook MEMBER "${CONTRACT_HOOKS}" ${index})
    string(JSON type GET "${CONTRACT_HOOKS}" ${hook})
    string(JSON own ERROR_VARIABLE missing GET "{${members}}" ${hook})
    if(missing)
      message(FATAL_ERROR "${subject} includes the contract ${included}, and does not declare its hook ${hook}: declare it as "
        "the header of ${included} does, or leave ${included} out of INCLUDES")
    elseif(NOT own STREQUAL type)
      message(FATAL_ERROR "${subject} includes the contract ${included}, and declares its hook ${hook} with another type "
        "(mangled ${own}, not ${type}): declare it as the header of ${included} does, or leave ${included} out of INCLUDES")
    endif()
  endforeach()
endforeach()

# nvcc escapes spaces in the names of dependencies, but not in the name of the target.
string(REPLACE " " "\\ " escaped_output "${OUTPUT}")
file(READ "${DEPFILE}" dependencies)
string(REGEX REPLACE "^hooks[ \t]*:" "" dependencies "${dependencies}")
file(WRITE "${DEPFILE}" "${escaped_output} :${dependencies}")
file(WRITE "${OUTPUT}" "set(CONTRACT_HOOKS [==[{${members}}]==])\n")
file(REMOVE "${ptx}")
