# SPDX-License-Identifier: Apache-2.0
# Tests that only `ctest -C long` runs, apart from those that are marked in Python files (test_functions.cmake). Each
# names the default test that has the same code in a short form. What takes hours runs with `ctest -C endurance`.

# All packages, installed in a Debian root, and built twice in other folders; and fatlink as a subproject of another
# project, compiled again. By default: package.* installs the build tree, consumer.* uses it. They compile with the flags of
# the default build, so that ccache has most of it.
fatlink_long_test(package.demo SECONDS 1800
  COMMAND "${PROJECT_SOURCE_DIR}/scripts/package-demo" -DFATLINK_WERROR=ON)
fatlink_long_test(package.reproducible SECONDS 1800 COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/package/reproducible")
fatlink_long_test(package.fetched SECONDS 1800
  COMMAND "${CMAKE_CTEST_COMMAND}" --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}/consumer/fetched"
          "${PROJECT_BINARY_DIR}/fetched" --build-generator "${CMAKE_GENERATOR}"
          --build-options "-DFATLINK_SOURCE=${PROJECT_SOURCE_DIR}" "-DCUDAToolkit_ROOT=${CUDAToolkit_BIN_DIR}/.."
          -DCMAKE_BUILD_TYPE=Release -DFATLINK_COMPILE_IN_GROUPS=ON -DFATLINK_WERROR=ON
          --test-command "${CMAKE_CTEST_COMMAND}" --output-on-failure --no-tests=error)
# They use all processors, and the same folders.
set_tests_properties(package.demo package.reproducible package.fetched PROPERTIES RUN_SERIAL ON)

# The Python wheel, built, and installed in a virtual environment, in a new Debian root and by the Dockerfile's steps. By
# default: python.* imports the package of the source tree, package.test_wheel_rules checks the rules of the wheel.
fatlink_long_test(wheel.make SECONDS 1800
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/wheel/make_wheels" "${PROJECT_BINARY_DIR}/wheels")
set_tests_properties(wheel.make PROPERTIES FIXTURES_SETUP wheels RUN_SERIAL ON)
foreach(stem IN ITEMS test_contents test_environment test_older_glibc test_clean_root)
  fatlink_long_test(wheel.${stem} PYTHON wheel ${stem} ENVIRONMENT "FATLINK_WHEELS=${PROJECT_BINARY_DIR}/wheels")
  set_tests_properties(wheel.${stem} PROPERTIES FIXTURES_REQUIRED wheels)
endforeach()

# The README's two commands in a new Debian root without toolkit. By default: nothing runs in such a root.
fatlink_long_test(root.demo SECONDS 1800 PYTHON root test_readme_commands.Demo)
fatlink_long_test(root.test SECONDS 3600 PYTHON root test_readme_commands.DefaultTests)
set_tests_properties(root.demo root.test PROPERTIES RUN_SERIAL ON)

# Fatbins of every toolkit against every nvJitLink; downloads 2 GB. By default: cli.test_check has files of three toolkits.
fatlink_long_test(toolkits.download SECONDS 1800
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fixtures/make_toolkit_fixtures" --toolkits-only "${PROJECT_BINARY_DIR}/toolkits")
set_tests_properties(toolkits.download PROPERTIES FIXTURES_SETUP toolkits)
foreach(stem IN ITEMS test_check test_two_steps)
  fatlink_long_test(toolkits.${stem} PYTHON cli ${stem}.Toolkits ENVIRONMENT "FATLINK_TOOLKITS=${PROJECT_BINARY_DIR}/toolkits")
  set_tests_properties(toolkits.${stem} PROPERTIES FIXTURES_REQUIRED toolkits)
endforeach()
# Links, compiles, checks, and what the helper's confinement allows, with their nvJitLink, NVRTC and libNVVM. By default: with
# the toolkit of the build.
foreach(version IN ITEMS 13.0 13.3 13.5)
  set(libraries "${PROJECT_BINARY_DIR}/toolkits/${version}/nvidia/cu13/lib")
  set(libraries "FATLINK_NVJITLINK=${libraries}/libnvJitLink.so.13" "FATLINK_NVRTC=${libraries}/libnvrtc.so.13"
    "FATLINK_LIBNVVM=${libraries}/libnvvm.so.4")
  # A session needs a process of its own.
  fatlink_long_test(toolkits.link_${version} COMMAND link_tests "--gtest_filter=-LinkSession.*" ENVIRONMENT ${libraries})
  fatlink_long_test(toolkits.compile_${version} COMMAND compile_tests ENVIRONMENT ${libraries})
  fatlink_long_test(toolkits.cli_${version} ENVIRONMENT ${libraries} PYTHON cli test_check test_compile test_compile_headers
    test_compile_ir test_compile_names test_link test_link_options test_newer_fatbins test_opaque test_targets test_two_steps)
  fatlink_long_test(toolkits.hostile_${version} ENVIRONMENT ${libraries} PYTHON hostile test_hostile_sources test_sandbox)
  foreach(tests IN ITEMS link compile cli hostile)
    set_tests_properties(toolkits.${tests}_${version} PROPERTIES FIXTURES_REQUIRED toolkits)
  endforeach()
endforeach()

# Raw LTO-IR of the newest Numba, cuda.core, NVRTC and libNVVM, linked by their nvJitLink, sources compiled by that NVRTC
# with the headers that it brings, and the examples of docs/python_transforms.md; downloads 300 MB. Without network, with
# the Numba and cuda.core of this Python, if it has them. By default: the same tests with committed files of pinned versions.
fatlink_long_test(makers.download SECONDS 1800
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fixtures/make_maker_fixtures" --newest "${PROJECT_BINARY_DIR}/makers")
set_tests_properties(makers.download PROPERTIES FIXTURES_SETUP makers)
foreach(test IN ITEMS test_makers.Newest test_python_transforms test_bundled_headers)
  string(REGEX REPLACE "\\..*" "" stem "${test}")
  fatlink_long_test(makers.${stem} PYTHON cli ${test} ENVIRONMENT "FATLINK_MAKERS=${PROJECT_BINARY_DIR}/makers")
  set_tests_properties(makers.${stem} PROPERTIES FIXTURES_REQUIRED makers)
endforeach()

# What `fatlink bench` compares with, and the programs of scripts/bench. By default: bench.test_scripts.
fatlink_long_test(bench.build COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target benchmarks)
set_tests_properties(bench.build PROPERTIES FIXTURES_SETUP bench_kernels RUN_SERIAL ON)
set_tests_properties(cli.test_bench.long PROPERTIES FIXTURES_REQUIRED bench_kernels)

# The reference device as compiled without vectorisation. By default: whole warps are compared with single lanes.
fatlink_long_test(scaled.build_scalar_forms
  COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target scalar_forms)
fatlink_long_test(scaled.scalar_forms COMMAND cpu_tests "--gtest_filter=InstructionForms.*")
set_tests_properties(scaled.build_scalar_forms PROPERTIES FIXTURES_SETUP scalar_forms RUN_SERIAL ON)
set_tests_properties(scaled.scalar_forms PROPERTIES FIXTURES_REQUIRED scalar_forms)

# Default tests at ten times the size or more.
fatlink_long_test(scaled.unit COMMAND unit_tests "--gtest_filter=LargeArrays.*:Every/LargeArraysOf.*:Limits.*"
  ENVIRONMENT FATLINK_TEST_SCALE=16)
fatlink_long_test(scaled.arithmetic COMMAND cpu_tests "--gtest_filter=Cpu/Arithmetic.*" ENVIRONMENT FATLINK_TEST_SCALE=16)
fatlink_long_test(scaled.algorithms COMMAND cpu_tests ENVIRONMENT FATLINK_TEST_SCALE=4
  "--gtest_filter=Cpu/Depths.*:Cpu/Histograms.*:Cpu/Loads.*:Cpu/Maps.*:Cpu/*Reductions.*:Cpu/Scans.*:Cpu/*Selections.*:Cpu/Sorts.*:Cpu/Merges.*:Cpu/Partitions3.*:Cpu/Run*.*:Cpu/Searches.*:Cpu/SegmentedSorts.*:Cpu/TopElements.*")
fatlink_long_test(scaled.c_interface COMMAND c_interface_tests "--gtest_filter=CMissingMemory.*" ENVIRONMENT FATLINK_TEST_SCALE=2)
fatlink_long_test(scaled.ptxas COMMAND cpu_tests "--gtest_filter=PtxasCases.*" ENVIRONMENT FATLINK_TEST_SCALE=2)
fatlink_long_test(scaled.link_options COMMAND link_tests "--gtest_filter=LinkOptions.*" ENVIRONMENT FATLINK_TEST_SCALE=2)
fatlink_long_test(scaled.test_bounds PYTHON hostile test_bounds.Bounds ENVIRONMENT FATLINK_TEST_SCALE=10)
fatlink_long_test(scaled.hostile COMMAND hostile_tests ENVIRONMENT FATLINK_TEST_SCALE=5)
fatlink_long_test(scaled.hostile_sources COMMAND compile_tests "--gtest_filter=HostileSources.*" ENVIRONMENT FATLINK_TEST_SCALE=15)
fatlink_long_test(scaled.test_corpus PYTHON cpu test_corpus ENVIRONMENT FATLINK_TEST_SCALE=16)
fatlink_long_test(scaled.test_cache_faults PYTHON cli test_cache_faults ENVIRONMENT FATLINK_TEST_SCALE=5)
fatlink_long_test(scaled.test_compile_headers PYTHON cli test_compile_headers.Unreadable ENVIRONMENT FATLINK_TEST_SCALE=5)
foreach(stem IN ITEMS test_cache test_live test_mutations test_watch)
  fatlink_long_test(scaled.${stem} PYTHON stress ${stem} ENVIRONMENT FATLINK_TEST_SCALE=4)
endforeach()
fatlink_long_test(scaled.test_form_mutations PYTHON hostile test_form_mutations ENVIRONMENT FATLINK_TEST_SCALE=8)
fatlink_long_test(scaled.test_live_gpu PYTHON gpu test_live ENVIRONMENT FATLINK_TEST_SCALE=4)
fatlink_long_test(scaled.gpu SECONDS 1800 ENVIRONMENT FATLINK_TEST_SCALE=64  # 2^26 elements
  COMMAND gpu_tests "--gtest_filter=Gpu/*Reductions.*:Gpu/Scans.*:Gpu/*Selections.*:Gpu/Histograms.*:Gpu/Loads.*:Gpu/Maps.*:Gpu/Sorts.*:Gpu/Merges.*:Gpu/Partitions3.*:Gpu/Run*.*:Gpu/Searches.*:Gpu/SegmentedSorts.*:Gpu/TopElements.*")
fatlink_long_test(scaled.devices_agree ENVIRONMENT FATLINK_TEST_SCALE=16 COMMAND gpu_tests "--gtest_filter=DevicesAgree.*")
set_tests_properties(scaled.test_live_gpu scaled.gpu scaled.devices_agree PROPERTIES LABELS "gpu;long;long5" RUN_SERIAL ON)

# Hours: 2^28 elements take 8 GB of memory, and of every type two hours of processor time.
fatlink_long_test(endurance.large_arrays SECONDS 14400 CONFIGURATIONS endurance ENVIRONMENT FATLINK_TEST_SCALE=4096
  COMMAND unit_tests "--gtest_filter=LargeArrays.*:Every/LargeArraysOf.*")
foreach(stem IN ITEMS test_cache test_live test_mutations test_watch)
  fatlink_long_test(endurance.${stem} SECONDS 7200 CONFIGURATIONS endurance PYTHON stress ${stem}
    ENVIRONMENT FATLINK_TEST_SCALE=20)
endforeach()
fatlink_long_test(endurance.test_form_mutations SECONDS 7200 CONFIGURATIONS endurance PYTHON hostile test_form_mutations
  ENVIRONMENT FATLINK_TEST_SCALE=120)
fatlink_long_test(endurance.test_live_gpu SECONDS 3600 CONFIGURATIONS endurance PYTHON gpu test_live
  ENVIRONMENT FATLINK_TEST_SCALE=20)
