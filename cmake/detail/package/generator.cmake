# SPDX-License-Identifier: Apache-2.0
# Read by cpack once for each kind of package: what differs between them.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: packages carry that time, so that they are the "
    "same bytes each time; for example SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cpack")
endif()
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_PACKAGING_INSTALL_PREFIX "/${CPACK_PACKAGE_NAME}-${CPACK_PACKAGE_VERSION}")
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
endif()
# For stage.cmake, which installs what a package has more than an install tree.
set(ENV{FATLINK_PACKAGING} "${CPACK_GENERATOR}")
set(ENV{FATLINK_PACKAGING_RELEASE} "")
if(CPACK_DEBIAN_PACKAGE_RELEASE)
  set(ENV{FATLINK_PACKAGING_RELEASE} "-${CPACK_DEBIAN_PACKAGE_RELEASE}")
endif()
set(ENV{FATLINK_PACKAGING_PREFIX} "${CPACK_PACKAGING_INSTALL_PREFIX}")
# A component's synopsis comes before its description; CPack would put the project's before both.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CPACK_DEFAULT_PACKAGE_DESCRIPTION_SUMMARY}")
endif()
