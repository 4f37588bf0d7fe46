# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
docs
----
The target ``docs``: a site in ``<build>/docs/html``, by Doxygen: the API reference of the public headers, and as pages
the documents of ``docs/`` with their generated parts, the CMake functions and the manual page. It is not part of the default build. An undocumented
public symbol and any other warning of Doxygen fail it. Without Doxygen or Python the target fails with a message that
says how to install them.
#]=======================================================================]
find_program(FATLINK_DOXYGEN doxygen)
mark_as_advanced(FATLINK_DOXYGEN)

set(docs_output "${PROJECT_BINARY_DIR}/docs")
configure_file("${CMAKE_CURRENT_LIST_DIR}/doxygen/Doxyfile.in" "${docs_output}/Doxyfile" @ONLY)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(FATLINK_DOXYGEN AND Python3_EXECUTABLE)
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${docs_output}/html"
    COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_LIST_DIR}/doxygen/make_pages.py" "${PROJECT_SOURCE_DIR}"
      "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1" "${FATLINK_DOCUMENTS_DIR}" "${docs_output}"
    COMMAND "${FATLINK_DOXYGEN}" "${docs_output}/Doxyfile"
    COMMENT "Generating the site in ${docs_output}/html"
    VERBATIM)
  add_dependencies(docs documents fatlink_manual)
else()
  set(missing "doxygen")
  if(FATLINK_DOXYGEN)
    set(missing "python3")
  endif()
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E echo 
      "docs: ${missing} was not found; install it (Debian, Ubuntu: ${missing}) and configure again"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
endif()
