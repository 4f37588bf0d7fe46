# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
documents
---------
The target ``documents``, with ``FATLINK_INSTALL`` a part of the default build: the documents of ``docs/`` that have a
generated part, in ``<build>/share/doc/fatlink`` (documents/write_documents.py). It needs Python, and for the instructions
of the reference device the tests, whose cases the table states. Without them these documents are installed as they are in
``docs/``, with a note in place of the generated part; the configuration says so.

Installs the documentation and the examples (four projects of ``tests/consumer``) with the component ``development``, to
``share/doc/fatlink``. The API reference is not installed: the target ``docs`` generates it.
#]=======================================================================]
set(FATLINK_DOCUMENTS_DIR "${PROJECT_BINARY_DIR}/share/doc/fatlink")
set(generated "")
set(table_command "")
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_EXECUTABLE)
  set(generated json.md python_reference.md)
  if(FATLINK_BUILD_TESTS)
    list(APPEND generated reference_device.md)
    file(GLOB cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpu/conformance/*.cases")
    set(table_command "$<TARGET_FILE:reference_device_instructions>" ${cases})
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
    "${PROJECT_SOURCE_DIR}/host/python/fatlink/*.py" "${CMAKE_CURRENT_LIST_DIR}/documents/*.py")
  add_custom_command(OUTPUT ${outputs}
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/documents/write_documents.py" "${PROJECT_SOURCE_DIR}"
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
  foreach(example IN ITEMS library transform application cluster)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/consumer/${example}" DESTINATION "${documents}/examples"
      COMPONENT development)
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/tests/consumer/README.md" DESTINATION "${documents}/examples"
    COMPONENT development)
  # The example has a licence of its own, for the package that it makes.
  set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES "/examples/transform/=0BSD")
endif()
