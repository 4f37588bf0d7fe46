# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
documents
---------
Installs the documentation (``docs/``) and the examples (four projects of ``tests/consumer``) with the component
``development``, to ``share/doc/fatlink``. The API reference is not installed: the target ``docs`` generates it.
#]=======================================================================]
set(documents "${CMAKE_INSTALL_DATAROOTDIR}/doc/fatlink")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${documents}" COMPONENT development)
foreach(example IN ITEMS library transform application cluster)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/consumer/${example}" DESTINATION "${documents}/examples"
    COMPONENT development)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/tests/consumer/README.md" DESTINATION "${documents}/examples"
  COMPONENT development)
# The example has a licence of its own, for the package that it makes.
set_property(GLOBAL APPEND PROPERTY FATLINK_BUNDLED_LICENSES "/examples/transform/=0BSD")
