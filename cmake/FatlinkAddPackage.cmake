# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_add_package
-------------------
Makes a DEB, an RPM and a TGZ package of an install component, with CPack.

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
  The install component that the package contains. Its name may contain letters, digits and ``_ . -``.
``SUMMARY``
  One line that describes the package.
``DESCRIPTION``
  One paragraph that describes the package. Default: a sentence that names the project.
``LICENSE``
  File with the text of the licence. Default: ``LICENSE`` beside the project's ``CMakeLists.txt``, if it exists.
``LICENSE_ID``
  SPDX expression of the licence, for example ``MIT``, for the RPM and the SPDX document. Default: none.
``COPYRIGHT``
  The holder of the copyright. Default: ``The authors of <project>``.
``CHANGELOG``
  File with the changelog. Default: ``CHANGELOG.md`` beside the project's ``CMakeLists.txt``, if it exists.
``OVERRIDES``
  File with lintian overrides and their reasons, for the DEB only.
``DEB_CONTROL``
  Files for the control archive of the DEB, such as ``triggers`` or ``postinst``.
``CONTRACTS``
  Contracts that the transforms in the package are built against. For each contract, the package depends on the virtual
  package ``fatlink-contract-<name>-<version>``. Packages of libraries with the same contract version provide it.
``PROVIDES_CONTRACTS``
  Contracts of the libraries in the package. The package provides the virtual package of each contract. For each contract,
  at least one fatbin of this contract, or of one that includes it, must be installed with ``COMPONENT``.
``DEB_DEPENDS``, ``DEB_RECOMMENDS``, ``RPM_REQUIRES``, ``RPM_RECOMMENDS``
  Other dependencies. Dependencies on shared libraries are found automatically. For a program that is linked with
  ``fatlink::static``, list ``fatlink-runtime``, because the program needs its helper ``fatlink-linkd``.
``SBOM``
  Parts and dependencies for the SPDX document of the package, in ``share/doc/<package>``.
``ARCHIVE_COMPONENTS``
  Other components whose files are added to the TGZ, because an archive has no dependencies. For the DEB and RPM, list the
  packages of these components in ``DEB_DEPENDS`` and ``RPM_REQUIRES``.
``ANY_ARCHITECTURE``
  Declares that the package contains no code for the host's processor, only fatbins and other data. ``cpack`` stops if the
  package contains such code.

The packages have the version of the project, and the maintainer ``CPACK_PACKAGE_CONTACT``. Builds are reproducible: all
packaged files have the time ``$SOURCE_DATE_EPOCH``. If it is not set, ``cpack`` uses the time of the project's last commit;
without git, it uses the time of the project's ``CMakeLists.txt``. A TGZ unpacks to ``<project>-<version>/``, and this folder
can be moved. The archives of one project can be unpacked into the same folder. ``cpack`` needs Python 3.9 or newer to write
the SPDX document. It uses ``Python3_EXECUTABLE`` if that is set, otherwise the first ``python3`` in ``PATH``.

Missing, unknown or malformed arguments stop configuration.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")

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
  set_property(GLOBAL PROPERTY FATLINK_PROVIDED_CONTRACTS_${arg_COMPONENT} "${arg_PROVIDES_CONTRACTS}")
  _fatlink_finish_packages_later()
endfunction()

# Checks the arguments, makes the paths of files absolute and sets the defaults, in the caller.
function(_fatlink_check_package_arguments caller)
  _fatlink_check_package_names("${caller}")
  _fatlink_check_package_texts("${caller}")
  foreach(dependency IN LISTS arg_SBOM)
    _fatlink_check_sbom_dependency("${caller}: SBOM ${dependency}" "${dependency}")
  endforeach()
  _fatlink_find_package_file("${caller}" LICENSE LICENSE)
  if(NOT arg_LICENSE)
    message(WARNING "${caller}: there is no ${PROJECT_SOURCE_DIR}/LICENSE, so the package does not state its licence; write one, or "
      "name the file with LICENSE")
  endif()
  _fatlink_find_package_file("${caller}" CHANGELOG CHANGELOG.md)
  _fatlink_find_package_file("${caller}" OVERRIDES "")
  _fatlink_find_package_file("${caller}" DEB_CONTROL "")
  foreach(keyword IN ITEMS DESCRIPTION COPYRIGHT LICENSE CHANGELOG OVERRIDES DEB_CONTROL)
    set(arg_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
  endforeach()
endfunction()

function(_fatlink_check_package_names caller)
  if(NOT package MATCHES "^[a-z0-9][a-z0-9+.-]+$")
    message(FATAL_ERROR "${caller}: a package's name consists of lower-case letters, digits and + . -")
  endif()
  if(NOT arg_COMPONENT MATCHES "^[A-Za-z0-9_.-]+$")
    message(FATAL_ERROR "${caller}: COMPONENT '${arg_COMPONENT}': a component's name consists of letters, digits "
      "and _ . -")
  endif()
  get_property(components GLOBAL PROPERTY FATLINK_PACKAGED_COMPONENTS)
  if(arg_COMPONENT IN_LIST components)
    message(FATAL_ERROR "${caller}: the component ${arg_COMPONENT} already has a package")
  endif()
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGED_COMPONENTS "${arg_COMPONENT}")
  if(NOT PROJECT_VERSION)
    message(FATAL_ERROR "${caller}: the project has no VERSION, which its packages need")
  endif()
endfunction()

function(_fatlink_check_package_texts caller)
  if(arg_SUMMARY MATCHES "\n")
    message(FATAL_ERROR "${caller}: SUMMARY must be one line; move the rest to DESCRIPTION")
  endif()
  string(REGEX REPLACE "[()]" " " license "${arg_LICENSE_ID}")
  string(STRIP "${license}" license)
  if(arg_LICENSE_ID AND NOT license MATCHES "^[A-Za-z0-9.+-]+( +(AND|OR|WITH) +[A-Za-z0-9.+-]+)*$")
    message(FATAL_ERROR "${caller}: LICENSE_ID '${arg_LICENSE_ID}': expected an SPDX expression such as MIT, or such as MIT OR "
      "Apache-2.0")
  endif()
  if(NOT arg_DESCRIPTION)
    set(arg_DESCRIPTION "A package of ${PROJECT_NAME}, for use with fatlink." PARENT_SCOPE)
  endif()
  if(NOT arg_COPYRIGHT)
    set(arg_COPYRIGHT "The authors of ${PROJECT_NAME}" PARENT_SCOPE)
  endif()
endfunction()

# <name>=<version>=<licence>=<relationship>[=<supplier>=<purl>]; version, supplier and purl may be empty, and the purl may
# contain "=".
function(_fatlink_check_sbom_dependency subject text)
  if(NOT text MATCHES "^([^=]+)=([^=]*)=([^=]+)=([^=]+)(=([^=]*)=(.*))?$")
    message(FATAL_ERROR "${subject}: expected <name>=<version>=<licence>=<relationship>, optionally followed by "
      "=<supplier>=<purl>")
  endif()
  set(relationship "${CMAKE_MATCH_4}")
  set(purl "${CMAKE_MATCH_7}")
  set(relationships DEPENDS_ON STATIC_LINK DYNAMIC_LINK DEPENDENCY_OF OPTIONAL_DEPENDENCY_OF
    RUNTIME_DEPENDENCY_OF BUILD_DEPENDENCY_OF TEST_DEPENDENCY_OF BUILD_TOOL_OF)
  if(NOT relationship IN_LIST relationships)
    list(JOIN relationships ", " relationships)
    message(FATAL_ERROR "${subject}: unknown relationship; expected one of ${relationships}")
  endif()
  if(purl AND NOT purl MATCHES "^pkg:[a-z]+/.+$")
    message(FATAL_ERROR "${subject}: ${purl} is not a package URL (pkg:<type>/<name>)")
  endif()
endfunction()

# Sets arg_<keyword> in the caller: the named files, else <default> beside the project's CMakeLists.txt.
function(_fatlink_find_package_file caller keyword default)
  set(files "${arg_${keyword}}")
  if(NOT files AND default AND EXISTS "${PROJECT_SOURCE_DIR}/${default}")
    set(files "${PROJECT_SOURCE_DIR}/${default}")
  endif()
  set(paths "")
  foreach(path IN LISTS files)
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
      message(FATAL_ERROR "${caller}: ${keyword} ${path}: no such file")
    endif()
    list(APPEND paths "${path}")
  endforeach()
  set(arg_${keyword} "${paths}" PARENT_SCOPE)
endfunction()

# The names of the virtual packages that stand for contracts, such as fatlink-contract-apply-transform-1.
function(_fatlink_contract_packages caller contracts packages_out)
  set(packages "")
  foreach(contract IN LISTS contracts)
    if(NOT TARGET fatlink_contract_${contract})
      message(FATAL_ERROR "${caller}: unknown contract ${contract}; call fatlink_add_contract(${contract} ...) first, "
        "or find_package(fatlink) where it is installed")
    endif()
    get_target_property(version fatlink_contract_${contract} FATLINK_CONTRACT_VERSION)
    string(TOLOWER "fatlink-contract-${contract}-${version}" name)
    string(REPLACE "_" "-" name "${name}")
    list(APPEND packages "${name}")
  endforeach()
  set(${packages_out} "${packages}" PARENT_SCOPE)
endfunction()

# CPack's variables of a package are global properties FATLINK_CPACK_<name> until all packages are known.
function(_fatlink_set_variable name value)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_VARIABLES "${name}")
  set_property(GLOBAL PROPERTY FATLINK_CPACK_${name} "${value}")
endfunction()

function(_fatlink_set_common_variables package)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_VARIABLES COMPONENTS_ALL)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_COMPONENTS_ALL "${arg_COMPONENT}")
  set(architecture "linux-${CMAKE_SYSTEM_PROCESSOR}")
  if(arg_ANY_ARCHITECTURE)
    set(architecture "any")
  endif()
  string(TOUPPER "${arg_COMPONENT}" component)
  _fatlink_set_variable(ARCHIVE_${component}_FILE_NAME "${package}-${PROJECT_VERSION}-${architecture}")
endfunction()

function(_fatlink_join_dependencies list_out)
  list(REMOVE_ITEM ARGN "")
  list(JOIN ARGN ", " dependencies)
  set(${list_out} "${dependencies}" PARENT_SCOPE)
endfunction()

function(_fatlink_set_deb_variables package required provided)
  string(TOUPPER "${arg_COMPONENT}" component)
  _fatlink_join_dependencies(depends ${arg_DEB_DEPENDS} ${required})
  _fatlink_join_dependencies(recommends ${arg_DEB_RECOMMENDS})
  _fatlink_join_dependencies(provides ${provided})
  _fatlink_set_variable(DEBIAN_${component}_PACKAGE_NAME "${package}")
  _fatlink_set_variable(DEBIAN_${component}_DESCRIPTION "${arg_SUMMARY}\n${arg_DESCRIPTION}")
  _fatlink_set_variable(DEBIAN_${component}_PACKAGE_DEPENDS "${depends}")
  _fatlink_set_variable(DEBIAN_${component}_PACKAGE_RECOMMENDS "${recommends}")
  _fatlink_set_variable(DEBIAN_${component}_PACKAGE_PROVIDES "${provides}")
  _fatlink_set_variable(DEBIAN_${component}_PACKAGE_CONTROL_EXTRA "${arg_DEB_CONTROL}")
  if(arg_ANY_ARCHITECTURE)
    _fatlink_set_variable(DEBIAN_${component}_PACKAGE_ARCHITECTURE all)
    _fatlink_set_variable(DEBIAN_${component}_PACKAGE_SHLIBDEPS OFF)
  endif()
endfunction()

function(_fatlink_set_rpm_variables package required provided)
  string(TOUPPER "${arg_COMPONENT}" component)
  _fatlink_join_dependencies(requires ${arg_RPM_REQUIRES} ${required})
  _fatlink_join_dependencies(recommends ${arg_RPM_RECOMMENDS})
  _fatlink_join_dependencies(provides ${provided})
  # CPack has no variable for the tag Recommends, so the tag follows the summary in the spec file.
  if(recommends)
    string(PREPEND recommends "\nRecommends: ")
  endif()
  _fatlink_set_variable(RPM_${component}_PACKAGE_NAME "${package}")
  _fatlink_set_variable(RPM_${component}_PACKAGE_DESCRIPTION "${arg_DESCRIPTION}")
  _fatlink_set_variable(RPM_${component}_PACKAGE_SUMMARY "${arg_SUMMARY}${recommends}")
  _fatlink_set_variable(RPM_${component}_PACKAGE_REQUIRES "${requires}")
  _fatlink_set_variable(RPM_${component}_PACKAGE_PROVIDES "${provides}")
  if(arg_LICENSE_ID)
    _fatlink_set_variable(RPM_PACKAGE_LICENSE "${arg_LICENSE_ID}")
  endif()
  if(arg_ANY_ARCHITECTURE)
    _fatlink_set_variable(RPM_${component}_PACKAGE_ARCHITECTURE noarch)
  endif()
endfunction()

# Writes what stage_package.cmake reads about a package. The file also includes stage_package.cmake; it becomes the last
# install rule of its component.
function(_fatlink_write_package_settings package)
  # Of fatlink's own packages and what they bundle (cmake/build).
  get_property(arg_PARTS GLOBAL PROPERTY FATLINK_PACKAGE_PARTS_${arg_COMPONENT})
  get_property(arg_BUNDLED GLOBAL PROPERTY FATLINK_BUNDLED_LIBRARIES)
  get_property(arg_LICENSES GLOBAL PROPERTY FATLINK_BUNDLED_LICENSES)
  set(script "${PROJECT_BINARY_DIR}/packages/${package}.cmake")
  set(arg_PACKAGE "${package}")
  set(arg_PROJECT "${PROJECT_NAME}")
  set(arg_VERSION "${PROJECT_VERSION}")
  set(arg_BUILD "${PROJECT_BINARY_DIR}")
  set(arg_PYTHON "${Python3_EXECUTABLE}")
  # CPACK_PACKAGE_CONTACT and CPACK_PACKAGE_VENDOR are known later: configure_file inserts them.
  set(settings "set(CONTACT [==[@CPACK_PACKAGE_CONTACT@]==])\nset(SUPPLIER [==[@CPACK_PACKAGE_VENDOR@]==])\n")
  foreach(name IN ITEMS PACKAGE PROJECT VERSION SUMMARY LICENSE LICENSE_ID COPYRIGHT CHANGELOG OVERRIDES
                        SBOM PARTS BUNDLED LICENSES ARCHIVE_COMPONENTS ANY_ARCHITECTURE DEB_DEPENDS BUILD PYTHON)
    string(APPEND settings "set(${name} [==[${arg_${name}}]==])\n")
  endforeach()
  string(APPEND settings "include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/detail/stage_package.cmake]==])\n")
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGE_SCRIPTS "${script}" "${arg_COMPONENT}" "${package}")
  file(WRITE "${script}.in" "${settings}")
endfunction()

# Defers _fatlink_finish_packages to the end of the project's CMakeLists.txt.
function(_fatlink_finish_packages_later)
  get_property(deferred GLOBAL PROPERTY FATLINK_FINISH_PACKAGES_DEFERRED)
  if(NOT deferred)
    set_property(GLOBAL PROPERTY FATLINK_FINISH_PACKAGES_DEFERRED ON)
    cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL _fatlink_finish_packages)
  endif()
endfunction()

function(_fatlink_finish_packages)
  get_property(names GLOBAL PROPERTY FATLINK_CPACK_VARIABLES)
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    get_property(CPACK_${name} GLOBAL PROPERTY FATLINK_CPACK_${name})
  endforeach()
  _fatlink_set_cpack_variables()
  get_property(scripts GLOBAL PROPERTY FATLINK_PACKAGE_SCRIPTS)
  set(CPACK_FATLINK_PROJECT "${PROJECT_SOURCE_DIR}")
  get_cmake_property(components COMPONENTS)  # before each package's script makes its component one of them
  while(scripts)
    list(POP_FRONT scripts script component package)
    _fatlink_check_component("fatlink_add_package(${package})" "${component}" "${components}")
    _fatlink_check_provided("fatlink_add_package(${package})" "${component}")
    configure_file("${script}.in" "${script}" @ONLY)
    install(SCRIPT "${script}" COMPONENT "${component}")
  endwhile()
  include(CPack)
endfunction()

# A component that no install() names would make a package without the project's files.
function(_fatlink_check_component caller component components)
  if(component IN_LIST components)
    return()
  endif()
  list(REMOVE_ITEM components Unspecified)
  list(JOIN components ", " names)
  if(NOT names)
    set(names "none: give each install() a COMPONENT")
  endif()
  message(FATAL_ERROR "${caller}: no install() has COMPONENT ${component}, so the package would hold no files. Components that "
    "have files: ${names}")
endfunction()

# A package that states a contract and holds no library of it would satisfy the packages of transforms.
function(_fatlink_check_provided caller component)
  get_property(provided GLOBAL PROPERTY FATLINK_PROVIDED_CONTRACTS_${component})
  get_property(held GLOBAL PROPERTY FATLINK_CONTRACTS_IN_${component})
  foreach(contract IN LISTS provided)
    if(NOT contract IN_LIST held)
      message(FATAL_ERROR "${caller}: PROVIDES_CONTRACTS ${contract}: no fatbin of this contract is installed with the component "
        "${component}; give its fatlink_add_fatbin INSTALL_DESTINATION and INSTALL_COMPONENT ${component}")
    endif()
  endforeach()
endfunction()

# CPack's variables that all packages share. Values that the project has set are kept.
macro(_fatlink_set_cpack_variables)
  set(CPACK_PACKAGE_NAME "${PROJECT_NAME}")
  set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
  _fatlink_default(PACKAGE_VENDOR "The developers of ${PROJECT_NAME}")
  if(NOT CPACK_PACKAGE_CONTACT)
    # The domain "invalid" does not exist: a project that publishes packages sets a contact.
    set(CPACK_PACKAGE_CONTACT "The developers of ${PROJECT_NAME} <developers@${PROJECT_NAME}.invalid>")
  endif()
  _fatlink_default(GENERATOR "TGZ;DEB;RPM")
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_THREADS 1)  # with several threads the archive's bytes depend on their number
  set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/detail/cpack_generator.cmake")
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)

  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  _fatlink_default(DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

  if(CMAKE_CROSSCOMPILING)  # otherwise CPack asks dpkg and uname
    set(architecture_aarch64 arm64)  # what dpkg calls it
    set(architecture_x86_64 amd64)
    _fatlink_default(DEBIAN_PACKAGE_ARCHITECTURE "${architecture_${CMAKE_SYSTEM_PROCESSOR}}")
    _fatlink_default(RPM_PACKAGE_ARCHITECTURE "${CMAKE_SYSTEM_PROCESSOR}")
    _fatlink_default(DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  endif()

  set(CPACK_RPM_COMPONENT_INSTALL ON)
  set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
  _fatlink_default(RPM_PACKAGE_RELEASE 1)
  _fatlink_default(RPM_PACKAGE_LICENSE NOASSERTION)
  _fatlink_default(RPM_PACKAGE_GROUP Development/Libraries)
  set(CPACK_RPM_PACKAGE_AUTOREQ ON)
  set(CPACK_RPM_PACKAGE_AUTOPROV ON)
  # Without these, rpmbuild strips files whose checksums the SPDX document states, and files that must not be changed.
  string(APPEND CPACK_RPM_SPEC_MORE_DEFINE "
%define _buildhost reproducible
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none
%define __spec_install_post /bin/true
%define debug_package %{nil}
%global __provides_exclude_from ^/usr/(lib/fatlink|libexec)/.*$")
  # System folders, which these packages must not own.
  set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib64 /usr/lib/cmake /usr/lib64/pkgconfig /usr/libexec /usr/share/man /usr/share/man/man1
    /usr/share/doc /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/zsh/vendor-completions /usr/share/fish
    /usr/share/fish/vendor_completions.d)
endmacro()

macro(_fatlink_default name value)
  if(NOT DEFINED CPACK_${name})
    set(CPACK_${name} "${value}")
  endif()
endmacro()
