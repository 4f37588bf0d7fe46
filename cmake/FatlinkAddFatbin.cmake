# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_fatbin
------------------
Compiles device code to one fatbin with PTX and LTO-IR, and with SASS on request.

  fatlink_add_fatbin(<target>
    SOURCES <file.cu>
    [CONTRACT <name>] [REFERENCE <file.json>] [PLAN <file.json>] [ARCHITECTURES <cc>...]
    [SASS <cc>...] [NVJITLINK_AT_LEAST <version>] [OPTIONS <nvcc option>...] [OUTPUT_NAME <stem>] [PACKAGE <name> [PACKAGE_VERSION <version>]]
    [INSTALL_DESTINATION <folder> [INSTALL_COMPONENT <name>]])

``SOURCES``
  One CUDA source file, because a fatbin contains one translation unit. It can include other files. The include path
  contains ``<fatlink/element.cuh>``; a hook that handles its elements as raw bytes uses this header to record the element
  type. To generate the source file during the build, call ``add_custom_command`` in the same directory before this
  function. The same applies to ``REFERENCE`` and ``PLAN``.
``CONTRACT``
  A contract of ``fatlink_add_contract``: the header that declares the hooks, which are the functions that a library calls
  and a transform defines. The header is included before the source, so a hook with a wrong type does not compile. The
  build fails if the fatbin neither defines nor calls a hook of the contract.
``REFERENCE``
  A JSON file that describes what the code computes, for verification. It is an object with ``name``, ``summary``,
  ``hook``, ``reference`` (an expression in x) and ``tolerance_ulp`` (at most 2^20). It may also contain only ``name`` and
  ``summary``. For hooks with other parameters, the keys are ``name``, ``summary``, ``hooks``, ``state``, ``element`` and
  ``error_model`` (docs/verification.md). The build fails if the object has other keys, if an expression cannot be parsed,
  if the contract does not declare the hook, or if the source does not define the hook.
``PLAN``
  A JSON file, the launch plan, that describes how a library's kernels are launched (docs/launch_plans.md). With a plan,
  ``fatlink run`` and ``fatlink::prepare`` can run the library without code for it. The build fails if the plan cannot be
  read, if it is for another contract, if a kernel does not exist, or if a kernel takes other parameters. If both
  ``REFERENCE`` and ``PLAN`` are given, only the keys ``name`` and ``summary`` may be in both files, with equal values.
``ARCHITECTURES``
  Compute capabilities, for example ``75;90a``. Default: 75, the oldest that CUDA 13 supports. Code for 75 can be linked
  for every newer compute capability.
``SASS``
  Compute capabilities, for example ``90;100f``. For each of them, a relocatable cubin is added, which is linked without a
  compiler (mode ``sass``). It is used only in links for exactly this compute capability, for example not for ``90a`` if it
  is compiled for ``90``. The result for ``90a`` or ``100f`` runs only on that GPU or family. The other entries are the same
  with and without ``SASS``, unless the source uses ``__CUDA_ARCH_LIST__``. Default: none.
``NVJITLINK_AT_LEAST``
  The oldest nvJitLink that users of the fatbin have, for example ``13.0``. nvJitLink reads only the output of toolkits up
  to its own version. Configuration therefore warns if the toolkit in use is newer than the version given here.
``OPTIONS``
  Options for nvcc, for example ``-use_fast_math``. Generator expressions are allowed. ``-G`` and options that set
  architectures or outputs are rejected.
``OUTPUT_NAME``
  Stem of the file name. Default: the name of the target.
``PACKAGE``, ``PACKAGE_VERSION``
  The package that contains the fatbin; error messages tell users to install this package. Default: the project's name and
  version.
``INSTALL_DESTINATION``
  Also installs the fatbin and its ``.json`` to this folder.
``INSTALL_COMPONENT``
  The install component. Default: ``transforms``.

The build writes ``<stem>.fatbin`` and ``<stem>.json`` to ``FATLINK_DATA_DIR`` if this variable is set, otherwise to the
current binary directory. The ``.json``, called sidecar, contains the reference and the plan, if any, and the SHA-256 of the
fatbin; fatlink refuses a fatbin with a different SHA-256. The target property ``FATLINK_FATBIN`` is the path of the fatbin.

A build replaces the two files only after every step has succeeded. It renames a complete new ``.json`` first, then a
complete new fatbin. A host can therefore read the files at any time (``fatlink::watch``, docs/watching.md). If a build
fails or is interrupted, the files of the previous build remain.

Every entry of the fatbin contains an ident, which describes the build: the contract, the hooks, the toolkit and the float
flags. After each build, ``fatlink inspect`` reads the fatbin; the build fails if an entry is missing or an ident is wrong.
Then ``fatlink digest`` adds digests of the entries to the idents, so that fatlink refuses a damaged fatbin.

Device code does not depend on the host's architecture. In a cross build, the program that reads the fatbin runs in
``CMAKE_CROSSCOMPILING_EMULATOR``. If ``FATLINK_NATIVE_BUILD`` is a build folder of the same project for another architecture,
nothing is compiled: the fatbins are copied from there. Build that folder first.

Builds in different folders produce the same bytes, except in these cases:

- All kernels and visible functions have a parameter whose type is in an unnamed namespace: nvcc names it by its process ID.
- ``OPTIONS`` contains ``-lineinfo``.
- The source includes a header through an absolute path (in the directive or in ``-I``), and the header uses ``__FILE__``.
- Such a header defines symbols with internal linkage: their mangled names depend on the path.
- The toolkit is outside the project, and its path differs between the builds.

Missing, unknown or malformed arguments, and an nvcc that is not from CUDA 13, stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/contracts.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc.cmake")

function(fatlink_add_fatbin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg ""
    "CONTRACT;REFERENCE;PLAN;NVJITLINK_AT_LEAST;OUTPUT_NAME;PACKAGE;PACKAGE_VERSION;INSTALL_DESTINATION;INSTALL_COMPONENT"
    "SOURCES;ARCHITECTURES;SASS;OPTIONS")
  set(caller "fatlink_add_fatbin(${target})")
  fatlink_check_arguments("${caller}")
  _fatlink_check_fatbin_arguments("${caller}")
  fatlink_package_text("${caller}" "${arg_PACKAGE}" "${arg_PACKAGE_VERSION}" package)
  fatlink_require_nvcc("${caller}" toolkit)
  _fatlink_check_floor("${caller}" "${toolkit}")

  set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  if(FATLINK_DATA_DIR)
    set(folder "${FATLINK_DATA_DIR}")
  endif()
  set(outputs "${folder}/${arg_OUTPUT_NAME}.fatbin" "${folder}/${arg_OUTPUT_NAME}.json")
  set(built_stem "${CMAKE_CURRENT_BINARY_DIR}/${target}.built/${arg_OUTPUT_NAME}")
  set(built_files "${built_stem}.fatbin" "${built_stem}.json")
  set(settings "${CMAKE_CURRENT_BINARY_DIR}/${target}.settings.cmake")
  set(depfile "${CMAKE_CURRENT_BINARY_DIR}/${target}.fatbin.d")
  set(contract_header "")
  set(hooks_file "")
  set(hooks_target "")
  if(arg_CONTRACT)
    get_target_property(contract_header fatlink_contract_${arg_CONTRACT} FATLINK_CONTRACT_HEADER)
    fatlink_contract_hooks(${arg_CONTRACT} hooks_file hooks_target)
  endif()
  _fatlink_write_fatbin_settings("${settings}")

  # Relative to the file of this function, not to the file that includes it first.
  set(scripts "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/detail")
  if(FATLINK_NATIVE_BUILD)
    _fatlink_copy_native_fatbin()
  else()
    set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:fatlink::program>)
    add_custom_command(OUTPUT ${built_files}
      COMMAND "${CMAKE_COMMAND}" "-DSETTINGS=${settings}" "-DINSPECT=${program}" -P "${scripts}/compile_fatbin.cmake"
      DEPENDS "${arg_SOURCES}" ${contract_header} ${hooks_file} ${arg_REFERENCE} ${arg_PLAN} "${settings}"
              "${scripts}/compile_fatbin.cmake"
      DEPFILE "${depfile}"
      COMMENT "Compiling device code ${arg_OUTPUT_NAME}.fatbin"
      VERBATIM)
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND "${CMAKE_COMMAND}" "-DBUILT=${built_stem}.fatbin" "-DFATBIN=${folder}/${arg_OUTPUT_NAME}.fatbin"
            -P "${scripts}/replace_fatbin.cmake"
    DEPENDS ${built_files} "${scripts}/replace_fatbin.cmake"
    COMMENT "Replacing ${arg_OUTPUT_NAME}.fatbin"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${outputs})
  if(NOT FATLINK_NATIVE_BUILD)
    # The build step runs the program. A newer program does not change the fatbin, so it is not in DEPENDS.
    add_dependencies(${target} fatlink::program ${hooks_target})
  endif()
  list(GET outputs 0 fatbin)
  set_target_properties(${target} PROPERTIES FATLINK_FATBIN "${fatbin}")
  set_property(GLOBAL APPEND PROPERTY FATLINK_DEVICE_CODE ${target})  # for fatlink's own target device_code
  if(arg_INSTALL_DESTINATION)
    install(FILES ${outputs} DESTINATION "${arg_INSTALL_DESTINATION}" COMPONENT "${arg_INSTALL_COMPONENT}")
    # For fatlink_add_package, which states the contracts of a component.
    _fatlink_included_contracts(includes)
    list(TRANSFORM includes REPLACE "/.*" "")
    set_property(GLOBAL APPEND PROPERTY FATLINK_CONTRACTS_IN_${arg_INSTALL_COMPONENT} "${arg_CONTRACT}" ${includes})
  endif()
endfunction()

# Adds the step that copies the fatbin and its .json from FATLINK_NATIVE_BUILD to `built_files`.
function(_fatlink_copy_native_fatbin)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE native)
  set(native "${FATLINK_NATIVE_BUILD}/${native}/${arg_OUTPUT_NAME}")
  cmake_path(ABSOLUTE_PATH native BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE)
  cmake_path(GET built_stem PARENT_PATH built_folder)
  add_custom_command(OUTPUT ${built_files}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${built_folder}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${native}.fatbin" "${native}.json" "${built_folder}"
    DEPENDS "${native}.fatbin" "${native}.json"
    COMMENT "Copying ${arg_OUTPUT_NAME}.fatbin of the native build"
    VERBATIM)
endfunction()

# Checks the arguments and sets their defaults, and arg_SOURCES, arg_REFERENCE and arg_PLAN to absolute paths, in the caller.
function(_fatlink_check_fatbin_arguments caller)
  _fatlink_check_source("${caller}")
  fatlink_check_nvcc_options("${caller}" "${arg_OPTIONS}")
  _fatlink_set_default(ARCHITECTURES 75)
  _fatlink_check_architectures("${caller}" ARCHITECTURES)
  _fatlink_check_sass("${caller}")
  _fatlink_set_default(OUTPUT_NAME "${target}")
  if(arg_OUTPUT_NAME MATCHES "[/\\]")
    message(FATAL_ERROR "${caller}: OUTPUT_NAME '${arg_OUTPUT_NAME}' must be a file name without a folder")
  endif()
  _fatlink_check_contract("${caller}")
  _fatlink_check_json("${caller}" REFERENCE)
  _fatlink_check_json("${caller}" PLAN)
  fatlink_check_install_component("${caller}")
  _fatlink_set_default(INSTALL_COMPONENT transforms)
  foreach(keyword IN ITEMS SOURCES ARCHITECTURES OUTPUT_NAME REFERENCE PLAN INSTALL_COMPONENT)
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endforeach()
endfunction()

macro(_fatlink_set_default keyword value)
  if(NOT arg_${keyword})
    set(arg_${keyword} "${value}")
  endif()
endmacro()

function(_fatlink_check_source caller)
  list(LENGTH arg_SOURCES count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${caller}: SOURCES takes one file, not ${count}: a fatbin holds one translation unit; "
      "include the other files from it")
  endif()
  fatlink_find_file("${caller}" SOURCES)
  set(arg_SOURCES "${arg_SOURCES}" PARENT_SCOPE)
endfunction()

# nvcc cannot write both sm_100 and sm_100f.
function(_fatlink_check_sass caller)
  _fatlink_check_architectures("${caller}" SASS)
  foreach(architecture IN LISTS arg_SASS)
    if("${architecture}f" IN_LIST arg_SASS)
      message(FATAL_ERROR "${caller}: SASS lists ${architecture} and ${architecture}f, which nvcc cannot write to one "
        "fatbin; remove one of them")
    endif()
  endforeach()
endfunction()

# Warns if an nvJitLink of the version arg_NVJITLINK_AT_LEAST does not read what `toolkit` writes.
function(_fatlink_check_floor caller toolkit)
  if(NOT DEFINED arg_NVJITLINK_AT_LEAST)
    return()
  endif()
  set(floor "${arg_NVJITLINK_AT_LEAST}")
  if(NOT floor MATCHES "^13\\.[0-9]+$")
    message(FATAL_ERROR "${caller}: NVJITLINK_AT_LEAST '${floor}': expected a version of CUDA 13 such as 13.0")
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${toolkit}")
  if(version VERSION_GREATER floor)
    message(WARNING "${caller}: nvJitLink ${floor} (NVJITLINK_AT_LEAST) does not read the LTO-IR of CUDA ${version}, which "
      "compiles this fatbin. Compile with CUDA ${floor}, or state NVJITLINK_AT_LEAST ${version}")
  endif()
endfunction()

function(_fatlink_check_contract caller)
  if(NOT arg_CONTRACT OR TARGET fatlink_contract_${arg_CONTRACT})
    return()
  endif()
  get_property(contracts GLOBAL PROPERTY FATLINK_CONTRACTS)
  list(REMOVE_DUPLICATES contracts)
  list(JOIN contracts ", " contracts)
  message(FATAL_ERROR "${caller}: unknown CONTRACT ${arg_CONTRACT}. Call fatlink_add_contract(${arg_CONTRACT} ...) "
    "first, or add the prefix where its library is installed to CMAKE_PREFIX_PATH before find_package(fatlink). "
    "Known contracts: ${contracts}")
endfunction()

function(_fatlink_check_json caller keyword)
  if(arg_${keyword})
    fatlink_find_file("${caller}" ${keyword})
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endif()
endfunction()

# Sets `result` to <contract>/<version> for each contract that the contract of the fatbin includes.
function(_fatlink_included_contracts result)
  set(includes "")
  if(arg_CONTRACT)
    get_target_property(includes fatlink_contract_${arg_CONTRACT} FATLINK_CONTRACT_INCLUDES)
    if(NOT includes)  # also of a contract that an older fatlink installed
      set(includes "")
    endif()
  endif()
  set(${result} "${includes}" PARENT_SCOPE)
endfunction()

# Writes the settings of the build step (compile_fatbin.cmake) from the variables of fatlink_add_fatbin. They are a file, so
# that a changed setting rebuilds the fatbin. CMake writes it when it has evaluated the generator expressions in OPTIONS.
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
  _fatlink_included_contracts(contract_includes)
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
set(CONTRACT_INCLUDES [==[@contract_includes@]==])
set(HEADER [==[@contract_header@]==])
set(HOOKS_FILE [==[@hooks_file@]==])
set(DEVICE_INCLUDES [==[@device_includes@]==])
set(PROJECT_FOLDER [==[@PROJECT_SOURCE_DIR@]==])
set(RELATIVE_PROJECT [==[@relative_project@]==])
]] content @ONLY)
  file(GENERATE OUTPUT "${settings}" CONTENT "${content}")
endfunction()

# The path of the project relative to the source's folder. If the build generates the source outside the project, it is the
# path of a symbolic link in the build folder, because the relative path to the project would depend on both locations.
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

# The path that the compiler is told for a source: /<project>/<path in the project>. It does not depend on the folder of the
# project, and is unique within the project. Empty if this nvcc rejects -Xcicc, which is undocumented (CUDA 13.0 has it);
# fatbins then depend on the folder in which they are built.
function(fatlink_stated_path source out)
  set(${out} "" PARENT_SCOPE)
  if(NOT FATLINK_STATED_PATH_NVCC STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
    set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/fatlink_probe.cu")
    file(WRITE "${probe}" "")
    execute_process(
      COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --dryrun -ptx -Xcicc --orig_src_path_name
              -Xcicc /probe.cu "${probe}"
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    set(FATLINK_STATED_PATH_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "The nvcc of FATLINK_STATED_PATH_STATUS")
    set(FATLINK_STATED_PATH_STATUS "${status}" CACHE INTERNAL "0 if nvcc accepts a path for the source")
    if(NOT status EQUAL 0)
      message(WARNING "${CUDAToolkit_NVCC_EXECUTABLE} does not accept -Xcicc: the bytes of fatbins will depend on "
        "the folder in which they are built")
    endif()
  endif()
  if(NOT FATLINK_STATED_PATH_STATUS EQUAL 0)
    return()
  endif()
  # Generated sources are in the build folder, which may be inside or outside of the project.
  set(base "${PROJECT_SOURCE_DIR}")
  set(kind "")
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" NORMALIZE generated)
  if(generated)
    set(base "${PROJECT_BINARY_DIR}")
    set(kind "/generated")
  endif()
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${base}" OUTPUT_VARIABLE path)
  string(REGEX REPLACE "[^A-Za-z0-9_./+-]" "_" path "/${PROJECT_NAME}${kind}/${path}")
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
