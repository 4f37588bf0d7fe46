# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
documents
---------
The manual page and the completions, the documents of ``docs/``, and the site. Included after host/.

``fatlink_manual``
  Target: the manual page, share/man/man1/fatlink.1 of the build folder, from man/fatlink.1.in and what the program states
  of its options. A cross build runs the program in CMAKE_CROSSCOMPILING_EMULATOR, as it does for the fatbins. The page is
  installed, and the completions of three shells in the folder that each shell searches.
``FATLINK_ZSH_COMPLETIONS_DIR``
  Folder for zsh's completions, relative to the prefix. Debian has a folder for packages, other systems have one
  folder.
``documents``
  Target, with ``FATLINK_INSTALL`` a part of the default build: the documents of ``docs/`` that have a generated part, in
  ``<build>/share/doc/fatlink`` (write_documents.py). It needs Python, and for the instructions of the reference
  device the tests, whose cases the table states. Without them these documents are installed as they are in ``docs/``, with
  a note in place of the generated part; the configuration says so. The documentation and the examples (five projects of
  ``tests/consumer``) are installed with the component ``development``, to ``share/doc/fatlink``.
``docs``
  Target, not part of the default build: a site in ``<build>/docs/html``, by Sphinx, with one search: the documents with their
  generated parts, the C and C++ headers (read by Doxygen), the CMake functions and the manual page. An undocumented public
  symbol and any other warning of Doxygen or Sphinx fail it. Without one of its tools the target fails with a message that
  says how to install them. The site is not installed.
#]=======================================================================]
if(EXISTS "/etc/debian_version")
  set(zsh_folder vendor-completions)
else()
  set(zsh_folder site-functions)
endif()
set(FATLINK_ZSH_COMPLETIONS_DIR "${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder}" CACHE STRING
    "Folder for zsh's completions, relative to the prefix")

# The arguments of the macro .IR for an install folder: PREFIX in italics and the rest, or an absolute path.
function(_fatlink_man_folder folder out)
  string(REPLACE "-" "\\-" text "${folder}")
  if(IS_ABSOLUTE "${folder}")
    set(${out} "\"\" ${text}" PARENT_SCOPE)
  else()
    set(${out} "PREFIX /${text}" PARENT_SCOPE)
  endif()
endfunction()
_fatlink_man_folder("${CMAKE_INSTALL_DATADIR}/fatlink" man_data)
_fatlink_man_folder("${CMAKE_INSTALL_LIBEXECDIR}" man_libexec)

# The build tree has the page too: man -M share/man fatlink.
set(manual "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1")
set(template "${PROJECT_BINARY_DIR}/host/fatlink.1.in")
configure_file("${PROJECT_SOURCE_DIR}/host/man/fatlink.1.in" "${template}" @ONLY)
add_custom_command(OUTPUT "${manual}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/share/man/man1"
  COMMAND fatlink_program --manual "${template}" > "${manual}"
  DEPENDS fatlink_program "${template}"
  COMMENT "Writing the manual page")
add_custom_target(fatlink_manual DEPENDS "${manual}")

if(FATLINK_INSTALL AND NOT FATLINK_WHEEL)
  set_target_properties(fatlink_manual PROPERTIES EXCLUDE_FROM_ALL OFF)
  install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/host/completions/fatlink.bash" RENAME fatlink
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/host/completions/_fatlink"
    DESTINATION "${FATLINK_ZSH_COMPLETIONS_DIR}" COMPONENT runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/host/completions/fatlink.fish"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT runtime)
endif()

if(FATLINK_WHEEL OR NOT (PROJECT_IS_TOP_LEVEL OR FATLINK_INSTALL))
  return()
endif()

set(FATLINK_DOCUMENTS_DIR "${PROJECT_BINARY_DIR}/share/doc/fatlink")
set(generated "")
set(table_command "")
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_EXECUTABLE)
  set(generated json.md python_reference.md)
  if(FATLINK_BUILD_TESTS)
    list(APPEND generated reference_device.md)
    file(GLOB cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpu/conformance/*.cases")
    set(table_command ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:reference_device_instructions>" ${cases})
  elseif(FATLINK_INSTALL)
    message(STATUS "fatlink: no tests, so the document of the reference device has no table of instructions")
  endif()
elseif(FATLINK_INSTALL)
  message(STATUS "fatlink: no Python, so no document has its generated part")
endif()
set(sources ${generated})
list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/docs/")
set(outputs ${generated})
list(TRANSFORM outputs PREPEND "${FATLINK_DOCUMENTS_DIR}/")
if(generated)
  file(GLOB described CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/schemas/*.json"
    "${PROJECT_SOURCE_DIR}/host/python/fatlink/*.py" "${CMAKE_CURRENT_LIST_DIR}/write_documents.py")
  add_custom_command(OUTPUT ${outputs}
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/write_documents.py" "${PROJECT_SOURCE_DIR}"
      "${FATLINK_DOCUMENTS_DIR}" ${table_command}
    DEPENDS ${sources} ${described} ${table_command}
    COMMENT "Writing the documents in ${FATLINK_DOCUMENTS_DIR}"
    VERBATIM)
endif()
add_custom_target(documents DEPENDS ${outputs})

if(FATLINK_INSTALL)
  set_target_properties(documents PROPERTIES EXCLUDE_FROM_ALL OFF)
  set(documents "${CMAKE_INSTALL_DATAROOTDIR}/doc/fatlink")
  set(excluded ${generated})
  list(TRANSFORM excluded REPLACE "(.+)" "PATTERN;\\1;EXCLUDE")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${documents}" COMPONENT development ${excluded})
  install(FILES ${outputs} DESTINATION "${documents}" COMPONENT development)
  foreach(example IN ITEMS library transform wheel application cluster)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/consumer/${example}" DESTINATION "${documents}/examples"
      COMPONENT development)
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/tests/consumer/README.md" DESTINATION "${documents}/examples"
    COMPONENT development)
  # Examples that make packages have a licence of their own, for these.
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES
    "/examples/library/=0BSD" "/examples/transform/=0BSD" "/examples/wheel/=0BSD")
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

find_program(FATLINK_DOXYGEN doxygen)
find_program(FATLINK_SPHINX sphinx-build)
mark_as_advanced(FATLINK_DOXYGEN FATLINK_SPHINX)

set(docs_output "${PROJECT_BINARY_DIR}/docs")
set(site "${CMAKE_CURRENT_LIST_DIR}/site")
configure_file("${site}/Doxyfile.in" "${docs_output}/Doxyfile" @ONLY)
set(missing "")
foreach(pair IN ITEMS FATLINK_DOXYGEN:doxygen FATLINK_SPHINX:sphinx-build Python3_EXECUTABLE:python3)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 variable)
  if(NOT ${variable})
    list(GET pair 1 missing)
  endif()
endforeach()
if(missing)
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E echo
      "docs: ${missing} was not found; install the tools (Debian, Ubuntu: doxygen python3-sphinx python3-breathe python3-myst-parser furo) and configure again"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
else()
  add_custom_target(docs
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${docs_output}/html" "${docs_output}/xml"
    COMMAND "${FATLINK_DOXYGEN}" "${docs_output}/Doxyfile"
    COMMAND "${Python3_EXECUTABLE}" -B "${site}/make_pages.py" "${PROJECT_SOURCE_DIR}"
      "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1" "${FATLINK_DOCUMENTS_DIR}" "${docs_output}"
    COMMAND "${CMAKE_COMMAND}" -E env "FATLINK_VERSION=${PROJECT_VERSION}" "FATLINK_XML=${docs_output}/xml"
      "${FATLINK_SPHINX}" -q -W --keep-going -c "${site}" -d "${docs_output}/doctrees" "${docs_output}/pages" "${docs_output}/html"
    COMMENT "Generating the site in ${docs_output}/html"
    VERBATIM)
  add_dependencies(docs documents fatlink_manual)
endif()
