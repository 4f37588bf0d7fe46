# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_contract_hooks
----------------------
Adds the build step that reads the hooks of a contract. All fatbins of the contract share it.

  fatlink_contract_hooks(<contract> <out-file> <out-target>)

The target, ``fatlink_contract_<contract>_hooks``, writes the file, which sets ``CONTRACT_HOOKS`` when it is included.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/device_includes.cmake")

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
  fatlink_device_includes(device_includes)
  file(CONFIGURE OUTPUT "${base}.settings.cmake" @ONLY CONTENT [[
set(NVCC [==[@CUDAToolkit_NVCC_EXECUTABLE@]==])
set(CONTRACT [==[@contract@]==])
set(VERSION [==[@version@]==])
set(HEADER [==[@header@]==])
set(HOOKS [==[@hooks@]==])
set(OUTPUT [==[@output@]==])
set(DEPFILE [==[@depfile@]==])
set(DEVICE_INCLUDES [==[@device_includes@]==])
]])
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DSETTINGS=${base}.settings.cmake" -P "${script}"
    DEPENDS "${header}" "${base}.settings.cmake" "${script}"
            "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scan_hooks.cmake"
    DEPFILE "${depfile}"
    COMMENT "Reading the hooks of contract ${contract}/${version}"
    VERBATIM)
  add_custom_target(${target} DEPENDS "${output}")
  set_target_properties(${interface} PROPERTIES FATLINK_CONTRACT_HOOKS_FILE "${output}")
  set(${file_out} "${output}" PARENT_SCOPE)
endfunction()
