# SPDX-License-Identifier: Apache-2.0
# The component `tests`: fatlink's tests for a machine that has only the installed files. They are
# run by <prefix>/libexec/fatlink-tests/run, beside the components runtime and transforms.
# cpu/CMakeLists.txt installs the corpus.
set(destination "${CMAKE_INSTALL_LIBEXECDIR}/fatlink-tests")
set(programs unit_tests link_tests cpu_tests gpu_tests live_stress)

if(FATLINK_BUNDLE_LIBRARIES)
  fatlink_relative_install_path("${destination}" "${CMAKE_INSTALL_LIBDIR}" libraries)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
endif()
install(TARGETS ${programs} hostile_nvjitlink faulty_system refuse_seccomp
  RUNTIME DESTINATION "${destination}" COMPONENT tests
  LIBRARY DESTINATION "${destination}" COMPONENT tests)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/python/fatlink" DESTINATION "${destination}/package" COMPONENT tests
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY fixtures cli cpu gpu python DESTINATION "${destination}" COMPONENT tests
  FILES_MATCHING PATTERN "*.py" PATTERN "*.fatbin" PATTERN "expression_digests.txt" PATTERN "forms/*" PATTERN "ir/*" PATTERN "toolkits/*" PATTERN "concatenated/*" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY cpu/conformance DESTINATION "${destination}" COMPONENT tests FILES_MATCHING PATTERN "*.cases")
install(PROGRAMS installed/run DESTINATION "${destination}" COMPONENT tests)
install(FILES installed/python_suite.py DESTINATION "${destination}" COMPONENT tests)
fatlink_install_notices(tests fmt/format.h nlohmann/json.hpp gtest/gtest.h)
