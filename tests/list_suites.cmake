# SPDX-License-Identifier: Apache-2.0
# Writes LIST, the entries <LABEL>.<suite> of ctest for the suites of the GoogleTest program PROGRAM, each for at most
# SECONDS. EMULATOR is the command that runs it in a cross build, else empty. The suites of conformance cases are not among them: tests/CMakeLists.txt has an entry for each file of cases.
#   cmake -DPROGRAM=<program> -DEMULATOR=<command> -DLABEL=<label> -DLIST=<file> -DSECONDS=<n> -P list_suites.cmake
execute_process(COMMAND ${EMULATOR} "${PROGRAM}" --gtest_list_tests "--gtest_filter=-Conformance/*"
  OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} cannot list its tests: ${status}\n${listed}")
endif()
string(REGEX MATCHALL "(^|\n)[^ \n]+\\." suites "${listed}")
set(text "")
set(command "${EMULATOR}" "${PROGRAM}")
list(REMOVE_ITEM command "")
list(TRANSFORM command REPLACE "(.+)" "[=[\\1]=]")
list(JOIN command " " command)
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n]|\\.$" "" suite "${suite}")
  string(APPEND text "add_test([=[${LABEL}.${suite}]=] ${command} [=[--gtest_filter=${suite}.*]=])\n"
    "set_tests_properties([=[${LABEL}.${suite}]=] PROPERTIES LABELS ${LABEL} TIMEOUT ${SECONDS} SKIP_RETURN_CODE 77)\n")
endforeach()
file(WRITE "${LIST}" "${text}")
