# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
docs
----
The target ``docs``: the API reference of the public headers, by Doxygen, in ``<build>/docs/html``. It is not part of
the default build. An undocumented public symbol and any other warning of Doxygen fail it. Without Doxygen the target
fails with a message that says how to install it.
#]=======================================================================]
find_program(FATLINK_DOXYGEN doxygen)
mark_as_advanced(FATLINK_DOXYGEN)

set(docs_output "${PROJECT_BINARY_DIR}/docs")
configure_file("${CMAKE_CURRENT_LIST_DIR}/doxygen/Doxyfile.in" "${docs_output}/Doxyfile" @ONLY)
if(FATLINK_DOXYGEN)
  add_custom_target(docs
    COMMAND "${FATLINK_DOXYGEN}" "${docs_output}/Doxyfile"
    COMMENT "Generating the API reference in ${docs_output}/html"
    VERBATIM)
else()
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E echo "docs: doxygen was not found; install it (Debian, Ubuntu: doxygen) and configure again"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
endif()
