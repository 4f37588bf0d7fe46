# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_fatbin
------------------
Compile device code to one fatbin that holds PTX and LTO-IR.

  fatlink_add_fatbin(<target>
    SOURCES <file.cu>
    [CONTRACT <name>] [REFERENCE <file.json>] [ARCHITECTURES <cc>...]
    [OPTIONS <nvcc option>...] [OUTPUT_NAME <stem>] [PACKAGE <name> [PACKAGE_VERSION <v>]]
    [INSTALL_DESTINATION <dir> [INSTALL_COMPONENT <name>]])

``SOURCES``
  One CUDA source: a fatbin holds one translation unit. Include others from it.
``CONTRACT``
  A contract of ``fatlink_add_contract``. Its header is included before the source,
  so that a hook of the wrong type does not compile. A fatbin that neither defines nor calls a hook of the
  contract fails the build.
``REFERENCE``
  What the code computes, for verification: a JSON object with ``name``, ``summary``, ``hook``, ``reference``
  (an expression in x) and ``tolerance_ulp`` (at most 2^20); or with ``name`` and ``summary`` alone. Other keys,
  an expression that does not parse and a hook that is none of the contract's fail the build.
``ARCHITECTURES``
  Compute capabilities, e.g. ``75;90a``. Default: the toolkit's oldest, 75, which links
  for every newer one.
``OPTIONS``
  For nvcc, e.g. ``-use_fast_math``. Architectures, outputs and ``-G`` are not allowed.
``PACKAGE``, ``PACKAGE_VERSION``
  The package that ships the fatbin, for messages that say what to install. Defaults: the project's
  name and version.
``OUTPUT_NAME``
  The file's stem. Default: the target's name.
``INSTALL_DESTINATION``
  Also installs fatbin and reference there.
``INSTALL_COMPONENT``
  The component they are installed with. Default: ``transforms``.

Beside the fatbin ``<stem>.json`` holds the reference, if any, and the fatbin's SHA-256: readers
refuse a fatbin that is not the one stated. The file is ``<stem>.fatbin`` in ``FATLINK_DATA_DIR`` where
that is set, else in the current binary directory. It is the same bytes in whatever folder it is built,
unless ``OPTIONS`` has ``-lineinfo``, or it includes, by an absolute path (``-I`` too), a header with
``__FILE__`` or with something private: names of that are made of the path; or the toolkit lies elsewhere
(one in the project's own folder moves with it). The target's property ``FATLINK_FATBIN`` has its path. Every
entry's ident says contract, hooks, toolkit and float flags. After each build the fatbin is read
back by ``fatlink inspect``: a missing entry or another ident fails the build. Then ``fatlink digest``
adds digests of the entries to the ident, so that readers refuse a fatbin that was damaged. Missing, unknown or
malformed arguments, and an nvcc that is not of CUDA 13, stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/contract_hooks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/float_flags.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/nvcc_version.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/package_text.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc/require_nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/fatbin/stated_path.cmake")

function(fatlink_add_fatbin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" 
    "CONTRACT;REFERENCE;OUTPUT_NAME;PACKAGE;PACKAGE_VERSION;INSTALL_DESTINATION;INSTALL_COMPONENT"
    "SOURCES;ARCHITECTURES;OPTIONS")
  set(me "fatlink_add_fatbin(${target})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${me}: no value for ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  _fatlink_check_source("${me}" "${arg_SOURCES}")
  _fatlink_check_options("${me}" "${arg_OPTIONS}")
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES 75)
  endif()
  _fatlink_check_architectures("${me}" "${arg_ARCHITECTURES}")
  fatlink_require_nvcc("${me}")
  if(NOT arg_OUTPUT_NAME)
    set(arg_OUTPUT_NAME "${target}")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  if(FATLINK_DATA_DIR)
    set(folder "${FATLINK_DATA_DIR}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCES BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
    OUTPUT_VARIABLE source)
  set(fatbin "${folder}/${arg_OUTPUT_NAME}.fatbin")
  _fatlink_contract_settings("${me}" "${arg_CONTRACT}" contract_settings contract_header)
  set(hooks_file "")
  set(hooks_target "")
  if(arg_CONTRACT)
    fatlink_contract_hooks(${arg_CONTRACT} hooks_file hooks_target)
  endif()
  fatlink_float_flags("${arg_OPTIONS}" float_flags)
  _fatlink_reference("${me}" "${arg_REFERENCE}" reference)
  fatlink_package_text("${me}" "${arg_PACKAGE}" "${arg_PACKAGE_VERSION}" package)

  _fatlink_way("${PROJECT_SOURCE_DIR}" "${source}" "${contract_header}" relative_header)
  _fatlink_way("${CMAKE_SOURCE_DIR}" "${source}" "${CUDAToolkit_NVCC_EXECUTABLE}" relative_nvcc)
  fatlink_nvcc_version("${me}" toolkit)
  fatlink_stated_path("${source}" stated_path)

  # Of the function, not of the directory that included this first.
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/detail/fatbin/compile_fatbin.cmake")
  # The settings are a file of their own, so that changing one rebuilds.
  set(settings "${CMAKE_CURRENT_BINARY_DIR}/${target}.settings.cmake")
  set(depfile "${CMAKE_CURRENT_BINARY_DIR}/${target}.fatbin.d")
  file(CONFIGURE OUTPUT "${settings}" @ONLY CONTENT [[
set(NVCC [==[@CUDAToolkit_NVCC_EXECUTABLE@]==])
set(RELATIVE_NVCC [==[@relative_nvcc@]==])
set(TOOLKIT [==[@toolkit@]==])
set(SOURCE [==[@source@]==])
set(STATED_PATH [==[@stated_path@]==])
set(RELATIVE_HEADER [==[@relative_header@]==])
set(PACKAGE [==[@package@]==])
set(FATBIN [==[@fatbin@]==])
set(DEPFILE [==[@depfile@]==])
set(ARCHITECTURES [==[@arg_ARCHITECTURES@]==])
set(OPTIONS [==[@arg_OPTIONS@]==])
set(FLOAT_FLAGS [==[@float_flags@]==])
set(REFERENCE [==[@reference@]==])
set(HOOKS_FILE [==[@hooks_file@]==])
@contract_settings@
]])
  set(outputs "${fatbin}" "${folder}/${arg_OUTPUT_NAME}.json")
  add_custom_command(OUTPUT ${outputs}
    COMMAND "${CMAKE_COMMAND}" "-DSETTINGS=${settings}" "-DINSPECT=$<TARGET_FILE:fatlink::program>"
            -P "${script}"
    DEPENDS "${source}" ${contract_header} ${hooks_file} ${reference} "${settings}" "${script}"
    DEPFILE "${depfile}"
    COMMENT "Compiling device code ${arg_OUTPUT_NAME}.fatbin"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${outputs})
  # Needed to read the fatbin back and to add its digests; a newer program makes no other fatbin.
  add_dependencies(${target} fatlink::program ${hooks_target})
  set_target_properties(${target} PROPERTIES FATLINK_FATBIN "${fatbin}")
  if(arg_INSTALL_DESTINATION)
    if(NOT arg_INSTALL_COMPONENT)
      set(arg_INSTALL_COMPONENT transforms)
    endif()
    install(FILES ${outputs} DESTINATION "${arg_INSTALL_DESTINATION}"
            COMPONENT "${arg_INSTALL_COMPONENT}")
  endif()
endfunction()

function(_fatlink_check_source me sources)
  list(LENGTH sources count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${me}: SOURCES takes one file, not ${count}: a fatbin holds one "
      "translation unit; include the others from it")
  endif()
  cmake_path(ABSOLUTE_PATH sources BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${sources}" OR IS_DIRECTORY "${sources}")
    message(FATAL_ERROR "${me}: SOURCES ${sources}: no such file")
  endif()
endfunction()

function(_fatlink_check_options me options)
  foreach(option IN LISTS options)
    if(option MATCHES "^(--?arch|--?gencode|--?gpu-|--?code|-G$|--device-debug|-o|--output|-c$|-dc$|-dlto|--fatbin|-fatbin|-cubin|-ptx)")
      message(FATAL_ERROR "${me}: OPTIONS ${option} is not allowed: it changes what "
        "the fatbin holds; use ARCHITECTURES, OUTPUT_NAME or leave it out")
    endif()
  endforeach()
endfunction()

function(_fatlink_check_architectures me architectures)
  foreach(architecture IN LISTS architectures)
    if(NOT architecture MATCHES "^([0-9]+)[af]?$")
      message(FATAL_ERROR "${me}: ARCHITECTURES ${architecture}: write a compute "
        "capability such as 75 or 90a")
    endif()
    if(CMAKE_MATCH_1 LESS 75)
      message(FATAL_ERROR "${me}: ARCHITECTURES ${architecture}: CUDA 13 begins at 75")
    endif()
  endforeach()
endfunction()

function(_fatlink_contract_settings me contract settings_out header_out)
  set(${settings_out} "" PARENT_SCOPE)
  set(${header_out} "" PARENT_SCOPE)
  if(NOT contract)
    return()
  endif()
  if(NOT TARGET fatlink_contract_${contract})
    get_property(known GLOBAL PROPERTY FATLINK_CONTRACTS)
    list(REMOVE_DUPLICATES known)
    list(JOIN known ", " known)
    message(FATAL_ERROR "${me}: CONTRACT ${contract} is not known; call "
      "fatlink_add_contract(${contract} ...) first, or add the prefix where its library is installed to "
      "CMAKE_PREFIX_PATH before find_package(fatlink). Known are: ${known}")
  endif()
  get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
  get_target_property(header fatlink_contract_${contract} FATLINK_CONTRACT_HEADER)
  get_target_property(package fatlink_contract_${contract} FATLINK_CONTRACT_PACKAGE)
  set(${header_out} "${header}" PARENT_SCOPE)
  set(${settings_out}
    "set(CONTRACT ${contract})\nset(VERSION ${version})\nset(HEADER [==[${header}]==])\nset(CONTRACT_PACKAGE [==[${package}]==])"
    PARENT_SCOPE)
endfunction()

# The way from the source's folder to a file, where both are in the folder `base`; else nothing.
function(_fatlink_way base source file out)
  set(${out} "" PARENT_SCOPE)
  set(inside FALSE)
  if(file)
    cmake_path(IS_PREFIX base "${file}" NORMALIZE inside)
  endif()
  cmake_path(IS_PREFIX base "${source}" NORMALIZE source_inside)
  if(inside AND source_inside)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}")
    set(${out} "${file}" PARENT_SCOPE)
  endif()
endfunction()

function(_fatlink_reference me reference result)
  if(reference)
    cmake_path(ABSOLUTE_PATH reference BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${reference}" OR IS_DIRECTORY "${reference}")
      message(FATAL_ERROR "${me}: REFERENCE ${reference}: no such file")
    endif()
  endif()
  set(${result} "${reference}" PARENT_SCOPE)
endfunction()
