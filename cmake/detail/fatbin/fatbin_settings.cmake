# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatbin_settings
---------------
Writes the settings of one fatbin for its build step (``compile_fatbin.cmake``).

  _fatlink_write_fatbin_settings(<file>)

Reads the variables of ``fatlink_add_fatbin``. The settings are a file, so that a changed setting rebuilds the
fatbin. CMake writes it when it has evaluated the generator expressions in ``OPTIONS``.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/device_includes.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/stated_path.cmake")

function(_fatlink_write_fatbin_settings settings)
  list(GET outputs 0 fatbin)
  list(GET built_files 0 built)
  fatlink_stated_path("${arg_SOURCES}" stated_path)
  _fatlink_relative_project(relative_project)
  _fatlink_relative_to_source("${CMAKE_SOURCE_DIR}" "${CUDAToolkit_NVCC_EXECUTABLE}" relative_nvcc)
  set(version "")
  set(contract_package "")
  if(arg_CONTRACT)
    get_target_property(version fatlink_contract_${arg_CONTRACT} FATLINK_CONTRACT_VERSION)
    get_target_property(contract_package fatlink_contract_${arg_CONTRACT} FATLINK_CONTRACT_PACKAGE)
  endif()
  fatlink_device_includes(device_includes)
  string(CONFIGURE [[
set(CALLER [==[@caller@]==])
set(NVCC [==[@CUDAToolkit_NVCC_EXECUTABLE@]==])
set(RELATIVE_NVCC [==[@relative_nvcc@]==])
set(TOOLKIT [==[@toolkit@]==])
set(SOURCE [==[@arg_SOURCES@]==])
set(STATED_PATH [==[@stated_path@]==])
set(PACKAGE [==[@package@]==])
set(FATBIN [==[@fatbin@]==])
set(BUILT [==[@built@]==])
set(DEPFILE [==[@depfile@]==])
set(ARCHITECTURES [==[@arg_ARCHITECTURES@]==])
set(SASS [==[@arg_SASS@]==])
set(OPTIONS [==[@arg_OPTIONS@]==])
set(REFERENCE [==[@arg_REFERENCE@]==])
set(PLAN [==[@arg_PLAN@]==])
set(CONTRACT [==[@arg_CONTRACT@]==])
set(VERSION [==[@version@]==])
set(CONTRACT_PACKAGE [==[@contract_package@]==])
set(HEADER [==[@contract_header@]==])
set(HOOKS_FILE [==[@hooks_file@]==])
set(DEVICE_INCLUDES [==[@device_includes@]==])
set(PROJECT_FOLDER [==[@PROJECT_SOURCE_DIR@]==])
set(RELATIVE_PROJECT [==[@relative_project@]==])
]] content @ONLY)
  file(GENERATE OUTPUT "${settings}" CONTENT "${content}")
endfunction()

# The path of the project relative to the source's folder. To a source that the build makes outside of the project it is a
# link in the build folder, because the path from there to the project depends on where the two are.
function(_fatlink_relative_project relative_out)
  _fatlink_relative_to_source("${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}" relative_project)
  if(NOT relative_project)
    set(link "${PROJECT_BINARY_DIR}/CMakeFiles/fatlink_project")
    _fatlink_relative_to_source("${PROJECT_BINARY_DIR}" "${link}" relative_project)
    if(relative_project)
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${link}" SYMBOLIC)
    endif()
  endif()
  set(${relative_out} "${relative_project}" PARENT_SCOPE)
endfunction()

# The path of a file relative to the source's folder if both are in the folder `base`, else nothing.
function(_fatlink_relative_to_source base file relative_out)
  set(${relative_out} "" PARENT_SCOPE)
  cmake_path(IS_PREFIX base "${file}" NORMALIZE file_inside)
  cmake_path(IS_PREFIX base "${arg_SOURCES}" NORMALIZE source_inside)
  if(file AND file_inside AND source_inside)
    cmake_path(GET arg_SOURCES PARENT_PATH folder)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}")
    set(${relative_out} "${file}" PARENT_SCOPE)
  endif()
endfunction()
