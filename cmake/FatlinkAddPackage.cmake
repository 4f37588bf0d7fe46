# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_package
-------------------
Makes a DEB, RPM and TGZ package of an install component, with CPack.

  fatlink_add_package(<package>
    COMPONENT <component> SUMMARY <text>
    [DESCRIPTION <text>] [LICENSE <file>] [LICENSE_ID <SPDX expression>] [COPYRIGHT <text>]
    [CHANGELOG <file>] [OVERRIDES <file>]
    [DEB_CONTROL <file>...]
    [CONTRACTS <name>...] [PROVIDES_CONTRACTS <name>...]
    [DEB_DEPENDS <dependency>...] [DEB_RECOMMENDS <dependency>...]
    [RPM_REQUIRES <dependency>...] [RPM_RECOMMENDS <dependency>...]
    [SBOM <name=version=licence=relationship[=supplier=purl]>...]
    [ARCHIVE_COMPONENTS <component>...]
    [ANY_ARCHITECTURE])

``COMPONENT``
  The install component that the package holds: letters, digits and ``_ . -``.
``SUMMARY``, ``DESCRIPTION``
  One line, and a paragraph.
``LICENSE``
  File with the licence's text. Default: ``LICENSE`` beside the project's ``CMakeLists.txt``, if it exists.
``LICENSE_ID``
  SPDX expression of the licence, for example ``MIT``, for the RPM and the SPDX document. Default: not stated.
``COPYRIGHT``
  The holder of the copyright. Default: ``The authors of <project>``.
``CHANGELOG``
  Default: ``CHANGELOG.md`` beside the project's ``CMakeLists.txt``, if it exists.
``OVERRIDES``
  File with explained lintian overrides, for the DEB only.
``DEB_CONTROL``
  Files for the DEB's control archive, such as ``triggers`` or ``postinst``.
``CONTRACTS``
  Contracts that the package's transforms are built against. The package depends on a package whose libraries have
  them in the same versions, expressed as ``fatlink-contract-<name>-<version>``.
``PROVIDES_CONTRACTS``
  Contracts that the package's libraries have.
``DEB_DEPENDS``, ``DEB_RECOMMENDS``, ``RPM_REQUIRES``, ``RPM_RECOMMENDS``
  Other dependencies. Shared libraries that programs are linked with are found automatically.
``SBOM``
  Parts and dependencies, for the package's SPDX document in ``share/doc/<package>``.
``ARCHIVE_COMPONENTS``
  Other components whose files the TGZ also holds, because an archive has no dependencies. DEB and RPM depend on
  the packages of those components through ``DEB_DEPENDS`` and ``RPM_REQUIRES``.
``ANY_ARCHITECTURE``
  The package holds no code for the host's processor, only fatbins.

The packages have the project's version, and the maintainer ``CPACK_PACKAGE_CONTACT``. Builds are reproducible at the
time ``$SOURCE_DATE_EPOCH``, which must be set for ``cpack``. A TGZ unpacks to ``<project>-<version>/``, which can be
moved; the archives of one project can be unpacked over each other. ``cpack`` needs Python 3.9 or newer, which writes the
SPDX document: ``Python3_EXECUTABLE`` if it is set, else the first ``python3`` in ``PATH``.

Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/check_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/package/package_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/package/package_variables.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/package/finish_packages.cmake")

function(fatlink_add_package package)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ANY_ARCHITECTURE"
    "COMPONENT;SUMMARY;DESCRIPTION;LICENSE;LICENSE_ID;COPYRIGHT;CHANGELOG;OVERRIDES"
    "CONTRACTS;PROVIDES_CONTRACTS;DEB_CONTROL;DEB_DEPENDS;DEB_RECOMMENDS;RPM_REQUIRES;RPM_RECOMMENDS;SBOM;ARCHIVE_COMPONENTS")
  set(caller "fatlink_add_package(${package})")
  fatlink_check_arguments("${caller}" COMPONENT SUMMARY)
  _fatlink_check_package_arguments("${caller}")
  _fatlink_contract_packages("${caller}" "${arg_CONTRACTS}" required)
  _fatlink_contract_packages("${caller}" "${arg_PROVIDES_CONTRACTS}" provided)

  _fatlink_set_common_variables("${package}")
  _fatlink_set_deb_variables("${package}" "${required}" "${provided}")
  _fatlink_set_rpm_variables("${package}" "${required}" "${provided}")
  _fatlink_write_package_settings("${package}")
  _fatlink_finish_packages_later()
endfunction()
