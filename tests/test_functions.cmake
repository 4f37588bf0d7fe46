# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
test_functions
--------------
How tests become entries of ctest: one for each suite of a GoogleTest program, and one for each file of Python tests. An
entry whose tests are all skipped is reported as skipped (exit status 77); the log has the reasons.

A long test runs only with ``ctest -C long``, and has the label ``long`` and that of its part, ``long1`` to ``long6``
(long_tests.cmake). Single Python tests are marked in their file with ``@long_test`` (fixtures/run_tests.py); files of
long tests only are named here.
#]=======================================================================]
include_guard(GLOBAL)

set(FATLINK_TESTS_DIR "${PROJECT_BINARY_DIR}/libexec/fatlink-tests")
set(FATLINK_TEST_SECONDS 900)  # the time limit of an entry, which several sanitizers and a busy machine share

# fatlink_travels(<target>): makes <target> run on machines without the sources and this C++ run-time.
function(fatlink_travels target)
  target_compile_options(${target} PRIVATE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# fatlink_test_program(<name> SOURCES <file>... [LIBRARIES <library>...]): a program that tests run, in
# FATLINK_TESTS_DIR.
function(fatlink_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${FATLINK_TESTS_DIR}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/host/src" "${PROJECT_SOURCE_DIR}/tests/fixtures")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  fatlink_warnings(${name})
  add_dependencies(${name} fatlink_linkd)
endfunction()

# Replaces the test sources in the list <variable> by groups of about 220 kB.
function(_fatlink_group_tests label variable)
  set(sources ${${variable}})
  set(groups "")
  while(sources)
    set(members "")
    set(bytes 0)
    while(sources AND bytes LESS 220000)
      list(POP_FRONT sources source)
      list(APPEND members "${source}")
      file(SIZE "${source}" size)
      math(EXPR bytes "${bytes} + ${size}")
    endwhile()
    list(LENGTH groups number)
    fatlink_write_group(${label}_tests.${number} ${members} OUTPUT file)
    list(APPEND groups "${file}")
  endwhile()
  set(${variable} ${groups} PARENT_SCOPE)
endfunction()

# fatlink_gtest(<label>): builds <label>_tests from all *_test.cpp in tests/<label>/ and its folders, in groups, and adds
# its suites.
function(fatlink_gtest label)
  file(GLOB sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/tests/${label}/*_test.cpp" "${PROJECT_SOURCE_DIR}/tests/${label}/*/*_test.cpp")
  set(target ${label}_tests)
  if(FATLINK_COMPILE_IN_GROUPS)
    _fatlink_group_tests(${label} sources)
  endif()
  add_executable(${target} ${sources} "${PROJECT_SOURCE_DIR}/tests/fixtures/test_main.cpp")
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/host/src" "${PROJECT_SOURCE_DIR}/tests/fixtures" "${PROJECT_SOURCE_DIR}")
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE
    fatlink_static fmt::fmt-header-only nlohmann_json::nlohmann_json PkgConfig::libzstd PkgConfig::liblz4
    GTest::gmock GTest::gtest)
  # Before the objects of the tests, which are not optimized: the linker takes the first definition of an inline function.
  target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:fatlink_static>,--no-whole-archive")
  add_dependencies(${target} hostile_nvjitlink fatlink_linkd)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)  # compiles in two thirds of the time
  if(FATLINK_COMPILE_IN_GROUPS)
    # Fixtures are in the anonymous namespace of a source, which a group includes.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  fatlink_warnings(${target})
  fatlink_travels(${target})
  fatlink_add_suites(${target} ${label})
endfunction()

# fatlink_add_suites(<target> <label>): adds the entry <label>.<suite> for each suite of <target>, when it is built.
function(fatlink_add_suites target label)
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
  set(script "${PROJECT_SOURCE_DIR}/tests/list_suites.cmake")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
            -DLABEL=${label} "-DLIST=${list}"
            -DSECONDS=${FATLINK_TEST_SECONDS} -P "${script}"
    BYPRODUCTS "${list}" VERBATIM)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake" CONTENT [[
if(EXISTS "@list@")
  include("@list@")
else()
  add_test(@label@.not_built "@target@")
endif()
]] @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
endfunction()

# The environment of Python tests. FATLINK_NVCC keeps what it compiles (nvcc_cache.cpp).
set(FATLINK_TEST_ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/fixtures"
  "FATLINK_BUILD=${PROJECT_BINARY_DIR}" "FATLINK_SOURCE=${PROJECT_SOURCE_DIR}"
  "FATLINK_NVCC=${FATLINK_TESTS_DIR}/nvcc/bin/nvcc" "FATLINK_NVCC_CACHE=${PROJECT_BINARY_DIR}/nvcc_cache"
  "FATLINK_CMAKE=${CMAKE_COMMAND}")

# What runs Python tests. In a cross build the programs that they start run in the emulator. Tests that load the library run
# with the Python of the sysroot.
set(FATLINK_TEST_PYTHON ${CMAKE_CROSSCOMPILING_EMULATOR} "${Python3_EXECUTABLE}")
set(FATLINK_LIBRARY_PYTHON ${FATLINK_TEST_PYTHON})
if(CMAKE_CROSSCOMPILING)
  set(FATLINK_LIBRARY_PYTHON ${CMAKE_CROSSCOMPILING_EMULATOR} "${CMAKE_SYSROOT}/usr/bin/python3")
endif()

# Sets <out> to the command that runs the Python tests of tests/<folder>.
function(_fatlink_python_of folder out)
  set(command "${FATLINK_TEST_PYTHON}")
  if(folder STREQUAL "python")
    set(command "${FATLINK_LIBRARY_PYTHON}")
  endif()
  set(${out} "${command}" PARENT_SCOPE)
endfunction()

# fatlink_python_tests(<label> [LONG <stem>...]): adds the entry <label>.<stem> for each test_*.py in tests/<label>/,
# and long.<label>.<stem> for those with tests that are marked as long. Of the stems after LONG all tests are long.
function(fatlink_python_tests label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LONG")
  _fatlink_python_of(${label} python)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${label}/test_*.py")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    if(stem IN_LIST arg_LONG)
      fatlink_long_test(${label}.${stem} PYTHON ${label} ${stem})
      continue()
    endif()
    add_test(NAME ${label}.${stem} COMMAND ${python} -m run_tests ${stem}
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/${label}")
    set_tests_properties(${label}.${stem} PROPERTIES LABELS ${label} TIMEOUT ${FATLINK_TEST_SECONDS}
      SKIP_RETURN_CODE 77 ENVIRONMENT "${FATLINK_TEST_ENVIRONMENT}")
    file(STRINGS "${file}" marks REGEX "^ *@long_test" LIMIT_COUNT 1)
    if(marks)
      fatlink_long_test(${label}.${stem}.long PYTHON ${label} --long ${stem})
    endif()
  endforeach()
endfunction()

# The part of `long` that each test belongs to: CI runs one of the six parts each day (scripts/test --long-part). A part
# takes at most ten minutes on two idle processors, but the last, which takes sixteen. The first pattern that fits the
# name counts.
set(FATLINK_LONG_PARTS
  1 "^package\\.demo$"
  2 "^(package\\.fetched|wheel\\.)"
  3 "^(package\\.|docs\\.)"
  4 "^(fuzz\\.|toolkits\\.|makers\\.|root\\.demo)"
  5 "^(scaled\\.|cpu\\.|hostile\\.|bench\\.|cli\\.|cmake\\.|consumer\\.|gpu\\.|python\\.|stress\\.)"
  6 "^(root\\.test$|aarch64\\.)")

function(_fatlink_part_of name out)
  set(parts ${FATLINK_LONG_PARTS})
  while(parts)
    list(POP_FRONT parts part pattern)
    if("${name}" MATCHES "${pattern}")
      set(${out} long${part} PARENT_SCOPE)
      return()
    endif()
  endwhile()
  message(FATAL_ERROR "fatlink_long_test(${name}): is in no part of FATLINK_LONG_PARTS")
endfunction()

# fatlink_long_test(<label>.<name> [SECONDS <n>] [CONFIGURATIONS <configuration>...] [ENVIRONMENT <variable=value>...]
#                   (PYTHON <folder> <word>... | COMMAND <command>...))
# An entry of ctest -C long (or of CONFIGURATIONS) only, for at most 600 seconds, unless it says otherwise: Python tests
# of tests/<folder>, or a command. It has the labels <label> and `long`.
function(fatlink_long_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SECONDS" "COMMAND;CONFIGURATIONS;ENVIRONMENT;PYTHON")
  string(REGEX REPLACE "\\..*" "" label "${name}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  if(arg_PYTHON)
    list(POP_FRONT arg_PYTHON folder)
    _fatlink_python_of(${folder} python)
    set(folder "${PROJECT_SOURCE_DIR}/tests/${folder}")
    set(arg_COMMAND ${python} -m run_tests ${arg_PYTHON})
    list(APPEND arg_ENVIRONMENT ${FATLINK_TEST_ENVIRONMENT})
  endif()
  if(NOT arg_SECONDS)
    set(arg_SECONDS 600)
  endif()
  if(NOT arg_CONFIGURATIONS)
    set(arg_CONFIGURATIONS long)
  endif()
  set(labels ${label} ${arg_CONFIGURATIONS})
  if("long" IN_LIST arg_CONFIGURATIONS)
    _fatlink_part_of("${name}" part)
    list(APPEND labels ${part})
  endif()
  add_test(NAME ${name} CONFIGURATIONS ${arg_CONFIGURATIONS} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${folder}")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_SECONDS}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
