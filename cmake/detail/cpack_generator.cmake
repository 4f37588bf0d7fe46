# SPDX-License-Identifier: Apache-2.0
# CPACK_PROJECT_CONFIG_FILE: cpack reads it once per package format.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  # Packages carry one time, so that builds are reproducible: of the project's last commit, or of its CMakeLists.txt.
  execute_process(COMMAND git -C "${CPACK_FATLINK_PROJECT}" log -1 --format=%ct
    OUTPUT_VARIABLE epoch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT epoch MATCHES "^[0-9]+$")
    file(TIMESTAMP "${CPACK_FATLINK_PROJECT}/CMakeLists.txt" epoch "%s" UTC)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} "${epoch}")
endif()
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_PACKAGING_INSTALL_PREFIX "/${CPACK_PACKAGE_NAME}-${CPACK_PACKAGE_VERSION}")
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
endif()
# For stage_package.cmake, which adds the files that a package holds in addition to an install tree.
set(ENV{FATLINK_PACKAGING} "${CPACK_GENERATOR}")
set(ENV{FATLINK_PACKAGING_RELEASE} "")
if(CPACK_DEBIAN_PACKAGE_RELEASE)
  set(ENV{FATLINK_PACKAGING_RELEASE} "-${CPACK_DEBIAN_PACKAGE_RELEASE}")
endif()
set(ENV{FATLINK_PACKAGING_PREFIX} "${CPACK_PACKAGING_INSTALL_PREFIX}")
# The component's description begins with its synopsis; without this CPack inserts the project's before it.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CPACK_DEFAULT_PACKAGE_DESCRIPTION_SUMMARY}")
endif()
