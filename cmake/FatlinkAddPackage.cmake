# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_package
-------------------
Makes a package of an install component: DEB, RPM and TGZ, with CPack.

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

``SUMMARY``, ``DESCRIPTION``
  One line, and a paragraph.
``LICENSE``
  The licence's text; default: ``LICENSE`` beside the project's ``CMakeLists.txt``, where it is.
``LICENSE_ID``
  Its SPDX identifier, as ``MIT``, for the RPM and the SPDX document. Default: not stated.
``COPYRIGHT``
  Who holds the copyright. Default: ``The authors of <project>``.
``CHANGELOG``
  Default: ``CHANGELOG.md`` beside the project's ``CMakeLists.txt``, where it is.
``OVERRIDES``
  lintian's, each explained; in the DEB alone.
``DEB_CONTROL``
  Files for the DEB's control archive: ``triggers``, ``postinst`` and the like.
``CONTRACTS``
  Contracts that the package's transforms are built against: it needs a package whose libraries have
  them, in those versions. DEB and RPM say so as ``fatlink-contract-<name>-<version>``.
``PROVIDES_CONTRACTS``
  Contracts that the package's libraries have.
``DEB_DEPENDS``, ``DEB_RECOMMENDS``, ``RPM_REQUIRES``, ``RPM_RECOMMENDS``
  What else it needs or is better with. Shared libraries that programs are linked with are found.
``SBOM``
  What is part of it or needed by it, for its SPDX document (share/doc/<package>).
``ARCHIVE_COMPONENTS``
  Other components whose files the TGZ has, too: an archive depends on nothing. DEB and RPM depend on the
  packages of those components, where DEB_DEPENDS and the like say so.
``ANY_ARCHITECTURE``
  It holds nothing for the host's processor: fatbins alone.

Packages have the project's version and, from ``CPACK_PACKAGE_CONTACT``, its maintainer. They are the
same bytes wherever they are built, at the time $SOURCE_DATE_EPOCH, which has to be set for ``cpack``.
A TGZ unpacks to ``<project>-<version>/``, which may lie anywhere; those of one project lie over each
other. Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

set_property(GLOBAL PROPERTY FATLINK_PACKAGE_DETAIL "${CMAKE_CURRENT_LIST_DIR}/detail/package")

function(fatlink_add_package package)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ANY_ARCHITECTURE"
    "COMPONENT;SUMMARY;DESCRIPTION;LICENSE;LICENSE_ID;COPYRIGHT;CHANGELOG;OVERRIDES"
    "CONTRACTS;PROVIDES_CONTRACTS;DEB_CONTROL;DEB_DEPENDS;DEB_RECOMMENDS;RPM_REQUIRES;RPM_RECOMMENDS;SBOM;ARCHIVE_COMPONENTS")
  set(me "fatlink_add_package(${package})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${me}: unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed IN ITEMS COMPONENT SUMMARY)
    if(NOT arg_${needed})
      message(FATAL_ERROR "${me}: ${needed} is missing")
    endif()
  endforeach()
  if(NOT package MATCHES "^[a-z0-9][a-z0-9+.-]+$")
    message(FATAL_ERROR "${me}: a package's name is lower-case letters, digits and + . -")
  endif()
  get_property(components GLOBAL PROPERTY FATLINK_PACKAGED_COMPONENTS)
  if(arg_COMPONENT IN_LIST components)
    message(FATAL_ERROR "${me}: the component ${arg_COMPONENT} is a package already")
  endif()
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGED_COMPONENTS "${arg_COMPONENT}")
  if(NOT PROJECT_VERSION)
    message(FATAL_ERROR "${me}: the project has no VERSION, which is its packages'")
  endif()
  if(NOT arg_DESCRIPTION)
    set(arg_DESCRIPTION "A package of ${PROJECT_NAME}, for use with fatlink.")
  endif()
  if(NOT arg_COPYRIGHT)
    set(arg_COPYRIGHT "The authors of ${PROJECT_NAME}")
  endif()
  _fatlink_file_of_project("${me}" LICENSE LICENSE)
  if(NOT arg_LICENSE)
    message(WARNING "${me}: there is no LICENSE, so the package says nothing of who may use it")
  endif()
  _fatlink_file_of_project("${me}" CHANGELOG CHANGELOG.md)
  _fatlink_file_of_project("${me}" OVERRIDES "")
  _fatlink_contract_packages("${me}" "${arg_CONTRACTS}" needed)
  _fatlink_contract_packages("${me}" "${arg_PROVIDES_CONTRACTS}" provided)

  _fatlink_set(COMPONENTS_ALL APPEND "${arg_COMPONENT}")
  _fatlink_write_facts("${package}")
  _fatlink_deb("${package}" "${arg_COMPONENT}" "${arg_SUMMARY}\n${arg_DESCRIPTION}"
    "${arg_DEB_DEPENDS};${needed}" "${arg_DEB_RECOMMENDS}" "${provided}" "${arg_ANY_ARCHITECTURE}")
  _fatlink_rpm("${package}" "${arg_COMPONENT}" "${arg_SUMMARY}" "${arg_DESCRIPTION}"
    "${arg_RPM_REQUIRES};${needed}" "${arg_RPM_RECOMMENDS}" "${provided}" "${arg_ANY_ARCHITECTURE}")
  string(TOUPPER "${arg_COMPONENT}" upper)
  if(arg_LICENSE_ID)
    _fatlink_set(RPM_PACKAGE_LICENSE "${arg_LICENSE_ID}")
  endif()
  _fatlink_set(DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${arg_DEB_CONTROL}")
  set(architecture "linux-${CMAKE_HOST_SYSTEM_PROCESSOR}")
  if(arg_ANY_ARCHITECTURE)
    set(architecture "any")
  endif()
  _fatlink_set(ARCHIVE_${upper}_FILE_NAME "${package}-${PROJECT_VERSION}-${architecture}")

  get_property(finishing GLOBAL PROPERTY FATLINK_PACKAGES_ARE_FINISHED)
  if(NOT finishing)
    set_property(GLOBAL PROPERTY FATLINK_PACKAGES_ARE_FINISHED ON)
    cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL _fatlink_finish_packages)
  endif()
endfunction()

# A variable of CPack's, kept until all packages are known.
function(_fatlink_set name value)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_VARIABLES "${name}")
  if(value STREQUAL "APPEND")
    set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_${name} "${ARGN}")
  else()
    set_property(GLOBAL PROPERTY FATLINK_CPACK_${name} "${value}")
  endif()
endfunction()

# arg_<what> of the caller: the file that was named, else <default> beside the project's lists.
function(_fatlink_file_of_project me what default)
  set(file "${arg_${what}}")
  if(NOT file AND default AND EXISTS "${PROJECT_SOURCE_DIR}/${default}")
    set(file "${PROJECT_SOURCE_DIR}/${default}")
  endif()
  if(file)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${me}: ${what} ${file}: no such file")
    endif()
  endif()
  set(arg_${what} "${file}" PARENT_SCOPE)
endfunction()

# fatlink-contract-apply-transform-1 of apply_transform: packages that have it provide this.
function(_fatlink_contract_packages me contracts out)
  set(packages "")
  foreach(contract IN LISTS contracts)
    if(NOT TARGET fatlink_contract_${contract})
      message(FATAL_ERROR "${me}: the contract ${contract} is not known")
    endif()
    get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
    string(TOLOWER "fatlink-contract-${contract}-${version}" name)
    string(REPLACE "_" "-" name "${name}")
    list(APPEND packages "${name}")
  endforeach()
  set(${out} "${packages}" PARENT_SCOPE)
endfunction()

function(_fatlink_deb package component description depends recommends provides any)
  string(TOUPPER "${component}" upper)
  foreach(list IN ITEMS depends recommends provides)
    list(REMOVE_ITEM ${list} "")
    list(JOIN ${list} ", " ${list})
  endforeach()
  _fatlink_set(DEBIAN_${upper}_PACKAGE_NAME "${package}")
  _fatlink_set(DEBIAN_${upper}_DESCRIPTION "${description}")
  _fatlink_set(DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  _fatlink_set(DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}")
  _fatlink_set(DEBIAN_${upper}_PACKAGE_PROVIDES "${provides}")
  if(any)
    _fatlink_set(DEBIAN_${upper}_PACKAGE_ARCHITECTURE all)
    _fatlink_set(DEBIAN_${upper}_PACKAGE_SHLIBDEPS OFF)
  endif()
endfunction()

function(_fatlink_rpm package component summary description requires recommends provides any)
  string(TOUPPER "${component}" upper)
  foreach(list IN ITEMS requires recommends provides)
    list(REMOVE_ITEM ${list} "")
    list(JOIN ${list} ", " ${list})
  endforeach()
  _fatlink_set(RPM_${upper}_PACKAGE_NAME "${package}")
  _fatlink_set(RPM_${upper}_PACKAGE_DESCRIPTION "${description}")
  # CPack has no name for this tag (and asks for rpmbuild's older tags): it goes along with another.
  if(recommends)
    string(PREPEND recommends "\nRecommends: ")
  endif()
  _fatlink_set(RPM_${upper}_PACKAGE_SUMMARY "${summary}${recommends}")
  _fatlink_set(RPM_${upper}_PACKAGE_REQUIRES "${requires}")
  _fatlink_set(RPM_${upper}_PACKAGE_PROVIDES "${provides}")
  if(any)
    _fatlink_set(RPM_${upper}_PACKAGE_ARCHITECTURE noarch)
  endif()
endfunction()

# What stage.cmake is to know of a package, and that it is to run last of its component's rules.
function(_fatlink_write_facts package)
  get_property(detail GLOBAL PROPERTY FATLINK_PACKAGE_DETAIL)
  get_property(arg_LICENSES GLOBAL PROPERTY FATLINK_BUNDLED_LICENSES)
  set(script "${PROJECT_BINARY_DIR}/packages/${package}.cmake")
  set(arg_PACKAGE "${package}")
  set(arg_PROJECT "${PROJECT_NAME}")
  set(arg_VERSION "${PROJECT_VERSION}")
  set(facts "set(CONTACT [==[@CPACK_PACKAGE_CONTACT@]==])\nset(SUPPLIER [==[@CPACK_PACKAGE_VENDOR@]==])\n")
  foreach(fact IN ITEMS PACKAGE PROJECT VERSION SUMMARY LICENSE LICENSE_ID COPYRIGHT CHANGELOG OVERRIDES
                        SBOM LICENSES ARCHIVE_COMPONENTS)
    string(APPEND facts "set(${fact} [==[${arg_${fact}}]==])\n")
  endforeach()
  string(APPEND facts "set(BUILD [==[${PROJECT_BINARY_DIR}]==])\n")
  string(APPEND facts "include([==[${detail}/stage.cmake]==])\n")
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGE_SCRIPTS "${script}" "${arg_COMPONENT}")
  file(WRITE "${script}.in" "${facts}")
endfunction()

# At the end of the project's lists: what is common to all packages, then CPack.
function(_fatlink_finish_packages)
  get_property(names GLOBAL PROPERTY FATLINK_CPACK_VARIABLES)
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    get_property(CPACK_${name} GLOBAL PROPERTY FATLINK_CPACK_${name})
  endforeach()
  get_property(detail GLOBAL PROPERTY FATLINK_PACKAGE_DETAIL)
  include("${detail}/cpack.cmake")
  get_property(scripts GLOBAL PROPERTY FATLINK_PACKAGE_SCRIPTS)
  while(scripts)
    list(POP_FRONT scripts script component)
    configure_file("${script}.in" "${script}" @ONLY)
    install(SCRIPT "${script}" COMPONENT "${component}")
  endwhile()
  include(CPack)
endfunction()
