# SPDX-License-Identifier: Apache-2.0
# Tests that take long or download, each of a configuration and label of its own: ctest -C LABEL -L LABEL.

# fatlink_long_test(<label>.<name> <seconds> [ENVIRONMENT <variable=value>...]
#                   (PYTHON <folder> <test> | COMMAND <command>...))
# A test that ctest runs only with -C <label>, for at most <seconds>: a Python test of tests/<folder>, or a command.
function(fatlink_long_test name seconds)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;ENVIRONMENT;PYTHON")
  string(REGEX REPLACE "\\..*" "" label "${name}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  if(arg_PYTHON)
    list(GET arg_PYTHON 0 folder)
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    list(GET arg_PYTHON 1 test)
    set(arg_COMMAND Python3::Interpreter -m unittest -v "${test}")
    list(APPEND arg_ENVIRONMENT ${FATLINK_TEST_ENVIRONMENT})
  endif()
  add_test(NAME ${name} CONFIGURATIONS ${label} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${folder}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${seconds} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# Fatbins of every toolkit against every nvJitLink; downloads 2 GB.
fatlink_long_test(toolkits.download 3600
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fixtures/make_toolkit_fixtures" --toolkits-only "${PROJECT_BINARY_DIR}/toolkits")
fatlink_long_test(toolkits.test_check 900 PYTHON cli test_check.Toolkits
  ENVIRONMENT "FATLINK_TOOLKITS=${PROJECT_BINARY_DIR}/toolkits")
set_tests_properties(toolkits.download PROPERTIES FIXTURES_SETUP toolkits)
set_tests_properties(toolkits.test_check PROPERTIES FIXTURES_REQUIRED toolkits)

# Raw LTO-IR of the newest Numba, cuda.core, NVRTC and libNVVM, linked by their nvJitLink, sources compiled by that NVRTC
# with the headers that it brings, and the examples of docs/python_transforms.md; downloads 300 MB. Without network, with
# the Numba and cuda.core of this Python, if it has them.
fatlink_long_test(makers.download 3600
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fixtures/make_maker_fixtures" --newest "${PROJECT_BINARY_DIR}/makers")
set_tests_properties(makers.download PROPERTIES SKIP_RETURN_CODE 77 FIXTURES_SETUP makers)
foreach(test IN ITEMS test_makers.Newest test_python_transforms test_bundled_headers)
  string(REGEX REPLACE "\\..*" "" stem "${test}")
  fatlink_long_test(makers.${stem} 900 PYTHON cli ${test} ENVIRONMENT "FATLINK_MAKERS=${PROJECT_BINARY_DIR}/makers")
  set_tests_properties(makers.${stem} PROPERTIES FIXTURES_REQUIRED makers)
endforeach()

# Long forms of tests of which the default has short ones.
fatlink_long_test(stress.long.cli_cache 3600 PYTHON cli test_cache_faults ENVIRONMENT FATLINK_CACHE_STRESS=long)
fatlink_long_test(stress.long.hostile_sources 3600 ENVIRONMENT FATLINK_HOSTILE_SCALE=10  # 200 of them in a row
  COMMAND compile_tests "--gtest_filter=HostileSources.*")
# Verification of 2^28 elements; takes 8 GB of memory, and of every type two hours of processor time.
fatlink_long_test(stress.long.large_arrays 14400 ENVIRONMENT FATLINK_VERIFY_ELEMENTS=268435456
  COMMAND unit_tests "--gtest_filter=LargeArrays.*")
fatlink_long_test(stress.long.large_arrays_of_types 14400 ENVIRONMENT FATLINK_VERIFY_ELEMENTS=268435456
  COMMAND unit_tests "--gtest_filter=Every/LargeArraysOf.*")
fatlink_long_test(stress.long.test_cache 3600 PYTHON stress test_cache ENVIRONMENT FATLINK_CACHE_STRESS=long)
fatlink_long_test(stress.long.test_form_mutations 7200 PYTHON hostile test_form_mutations
  ENVIRONMENT FATLINK_FORM_MUTATIONS=1000)
fatlink_long_test(stress.long.test_live 3600 PYTHON stress test_live ENVIRONMENT FATLINK_LIVE_STRESS=long)
fatlink_long_test(stress.long.test_live_gpu 3600 PYTHON gpu test_live ENVIRONMENT FATLINK_LIVE_STRESS=long)
fatlink_long_test(stress.long.test_mutations 7200 PYTHON stress test_mutations ENVIRONMENT FATLINK_MUTATIONS=10000)
fatlink_long_test(stress.long.test_watch 3600 PYTHON stress test_watch ENVIRONMENT FATLINK_WATCH_REPLACEMENTS=10000)

# All packages, built twice and installed; and fatlink as a subproject of another project, compiled again.
fatlink_long_test(package.demo 3600 COMMAND "${PROJECT_SOURCE_DIR}/scripts/package-demo")
fatlink_long_test(package.reproducible 3600 COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/package/reproducible")
fatlink_long_test(package.fetched 3600
  COMMAND "${CMAKE_CTEST_COMMAND}" --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}/consumer/fetched"
          "${PROJECT_BINARY_DIR}/fetched" --build-generator "${CMAKE_GENERATOR}"
          --build-options "-DFATLINK_SOURCE=${PROJECT_SOURCE_DIR}" "-DCUDAToolkit_ROOT=${CUDAToolkit_BIN_DIR}/.."
          --test-command "${CMAKE_CTEST_COMMAND}" --output-on-failure --no-tests=error)

# The Python wheel, built, and installed in a virtual environment, in a new Debian root and by the Dockerfile's steps.
fatlink_long_test(wheel.make 3600
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/wheel/make_wheels" "${PROJECT_BINARY_DIR}/wheels")
set_tests_properties(wheel.make PROPERTIES SKIP_RETURN_CODE 77 FIXTURES_SETUP wheels)
foreach(stem IN ITEMS test_contents test_environment test_clean_root)
  fatlink_long_test(wheel.${stem} 1800 PYTHON wheel ${stem} ENVIRONMENT "FATLINK_WHEELS=${PROJECT_BINARY_DIR}/wheels")
  set_tests_properties(wheel.${stem} PROPERTIES FIXTURES_REQUIRED wheels)
endforeach()
