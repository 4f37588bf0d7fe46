# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
operator_sources
----------------
``add_operator``, the rows of number_operators.cmake: writes source and sidecar of an operator on numbers, and adds its fatbin.
Unknown types, hooks and arguments stop configuration; the build checks the rest, as for every transform.
#]=======================================================================]
include_guard(GLOBAL)

# The types, and their names in CUDA.
foreach(bits IN ITEMS 8 16 32 64)
  set(operator_type_int${bits} std::int${bits}_t)
  set(operator_type_uint${bits} std::uint${bits}_t)
endforeach()
set(operator_type_float16 __half)
set(operator_type_bfloat16 __nv_bfloat16)
set(operator_type_float32 float)
set(operator_type_float64 double)

# A hook: its keyword in number_operators.cmake, its name, its parameters in code and reference, the type of its result where the
# fatbin does not record it, and the template of its definition. @TYPE@ is the operator's type in CUDA and @OTHER@ that of the
# hook's other array; @type@ and @other@ are the same in sidecars.
set(operator_hooks "")
function(operator_hook keyword name parameters result definition)
  set(operator_hooks ${operator_hooks} ${keyword} PARENT_SCOPE)
  foreach(part IN ITEMS name parameters result definition)
    set(operator_${keyword}_${part} "${${part}}" PARENT_SCOPE)
  endforeach()
endfunction()
set(body "\n{\n@read_state@  return @code@;\n}")
operator_hook(LOAD load "x, index" @type@ "FATLINK_LOAD(@TYPE@, @OTHER@, x)${body}")
operator_hook(LOAD_AT load "x, index" @type@ "FATLINK_LOAD_AT(@TYPE@, @OTHER@, in, index)${body}")
operator_hook(COMBINE combine "a, b" "" "FATLINK_COMBINE(@TYPE@, a, b)${body}")
operator_hook(LESS less "a, b" "" "FATLINK_LESS(@TYPE@, a, b)${body}")
operator_hook(KEEP keep "x" "" "FATLINK_KEEP(@TYPE@, x)${body}")
operator_hook(EQUAL equal "a, b" "" "FATLINK_EQUAL(@TYPE@, a, b)${body}")
operator_hook(SAME_KEY same_key "a, b" "" "FATLINK_SAME_KEY(@TYPE@, a, b)${body}")
operator_hook(KEY key "x" "" "FATLINK_KEY(@TYPE@, x)${body}")
operator_hook(BIN bin "x" uint32 "FATLINK_BIN(@TYPE@, x)${body}")
operator_hook(PART part "x" uint32 "FATLINK_PART(@TYPE@, x)${body}")
operator_hook(STORE store "x" @other@ "FATLINK_STORE(@OTHER@, @TYPE@, x)${body}")
operator_hook(MAP1 map_element "x" "" "FATLINK_MAP1(@TYPE@, @OTHER@, x)${body}")
operator_hook(MAP2 map_element "a, b" "" "FATLINK_MAP2(@TYPE@, @OTHER@, a, @OTHER@, b)${body}")
operator_hook(MAP3 map_element "a, b, c" "" "FATLINK_MAP3(@TYPE@, @OTHER@, a, @OTHER@, b, @OTHER@, c)${body}")
operator_hook(LOAD_ELEMENT load_element "x, index" float32 [[FATLINK_ELEMENT(load_element, @TYPE@);

extern "C" __device__ float load_element(void const* in, std::size_t index, void const* state)
{
@read_state@  auto const x = static_cast<@TYPE@ const*>(in)[index];
  return @code@;
}]])
operator_hook(STORE_ELEMENT store_element "x, index" @type@ [[FATLINK_ELEMENT(store_element, @TYPE@);

extern "C" __device__ void store_element(void* out, std::size_t index, float x, void const* state)
{
@read_state@  static_cast<@TYPE@*>(out)[index] = @code@;
}]])

function(add_operator name contract type summary)
  set(caller "add_operator(${name})")
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "ERROR_MODEL" "STATE;${operator_hooks}")
  fatlink_check_arguments("${caller}")
  _operator_type("${type}" TYPE)
  set(members "")  # of the sidecar, after the hooks
  if(DEFINED arg_STATE)
    _operator_state(${arg_STATE})
  endif()
  if(DEFINED arg_ERROR_MODEL)
    string(APPEND members ", \"error_model\": \"${arg_ERROR_MODEL}\"")
  endif()
  set(definitions "")
  set(hooks "")
  foreach(keyword IN LISTS operator_hooks)
    if(DEFINED arg_${keyword})
      _operator_hook(${keyword} ${arg_${keyword}})
    endif()
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${contract}/")
  _write_operator("${folder}${name}")
  if(NOT TARGET fatlink_contract_${contract})  # one contract for each size
    string(REGEX MATCH "[0-9]+$" bits "${type}")
    math(EXPR bytes "${bits} / 8")
    string(APPEND contract "_${bytes}")
  endif()
  add_transform(${name} ${contract} "${folder}")
endfunction()

# The functions below read the variables of add_operator.
# Sets `result` to the name of a type in CUDA.
function(_operator_type type result)
  if(NOT DEFINED operator_type_${type})
    message(FATAL_ERROR "${caller}: unknown type '${type}'; operator_sources.cmake lists the types")
  endif()
  set(${result} "${operator_type_${type}}" PARENT_SCOPE)
endfunction()

# Sets state_field, and state_line, which reads it; adds to members.
function(_operator_state)
  if(NOT ARGC EQUAL 3)
    message(FATAL_ERROR "${caller}: STATE takes a field, a type and a default")
  endif()
  _operator_type("${ARGV1}" STATE)
  set(state_field "${ARGV0}" PARENT_SCOPE)
  set(state_line "  auto const ${ARGV0} = state == nullptr ? ${STATE}{${ARGV2}} : *static_cast<${STATE} const*>(state);\n"
    PARENT_SCOPE)
  set(members "${members}, \"state\": [{\"name\": \"${ARGV0}\", \"type\": \"${ARGV1}\", \"default\": ${ARGV2}}]" PARENT_SCOPE)
endfunction()

# <HOOK> "<code>" ...: adds to definitions of the source and to hooks of the sidecar.
function(_operator_hook keyword)
  cmake_parse_arguments(PARSE_ARGV 1 hook "" "REFERENCE;ULP;TYPE" "")
  set(code "${hook_UNPARSED_ARGUMENTS}")
  list(LENGTH code count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${caller}: ${keyword} takes one expression, not ${count}")
  endif()
  set(other "${type}")
  if(DEFINED hook_TYPE)
    set(other "${hook_TYPE}")
  endif()
  _operator_type("${other}" OTHER)
  set(read_state "")
  if(DEFINED arg_STATE AND "${code}" MATCHES "(^|[^A-Za-z0-9_])${state_field}([^A-Za-z0-9_]|$)")
    set(read_state "${state_line}")
  endif()
  string(CONFIGURE "${operator_${keyword}_definition}" definition @ONLY)
  set(definitions "${definitions}\n${definition}\n" PARENT_SCOPE)
  _operator_reference(${keyword})
  set(hooks ${hooks} "${reference}" PARENT_SCOPE)
endfunction()

# Sets reference: the hook's member of the sidecar.
function(_operator_reference keyword)
  string(REPLACE ", " "\", \"" parameters "${operator_${keyword}_parameters}")
  set(members "\"parameters\": [\"${parameters}\"]")
  if(operator_${keyword}_result)
    string(CONFIGURE "${operator_${keyword}_result}" result @ONLY)
    string(APPEND members ", \"type\": \"${result}\"")
  endif()
  if(NOT DEFINED hook_REFERENCE)
    set(hook_REFERENCE "${code}")
  endif()
  string(APPEND members ", \"result\": \"${hook_REFERENCE}\"")
  if(DEFINED hook_ULP)
    string(APPEND members ", \"tolerance\": {\"ulp\": ${hook_ULP}}")
  endif()
  set(reference "\"${operator_${keyword}_name}\": {${members}}" PARENT_SCOPE)
endfunction()

function(_write_operator stem)
  set(headers "")
  if(definitions MATCHES "half")
    string(APPEND headers "#include <cuda_fp16.h>\n")
  endif()
  if(definitions MATCHES "bfloat16")
    string(APPEND headers "#include <cuda_bf16.h>\n")
  endif()
  list(JOIN hooks ",\n  " hooks)
  file(CONFIGURE OUTPUT "${stem}.cu" @ONLY CONTENT
[[// SPDX-License-Identifier: Apache-2.0
// @name@: @summary@. Written by CMake from its row in kernels/transforms/number_operators.cmake.
#include <cstdint>

@headers@#include <fatlink/typed_hooks.cuh>
@definitions@]])
  file(CONFIGURE OUTPUT "${stem}.json" @ONLY CONTENT
[[{"name": "@name@", "summary": "@summary@", "hooks": {
  @hooks@
}@members@}
]])
endfunction()
