# SPDX-License-Identifier: Apache-2.0
# CPACK_PROJECT_CONFIG_FILE: cpack reads it once per package format.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set. Packages carry that time, so that builds are "
    "reproducible; for example SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cpack")
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
