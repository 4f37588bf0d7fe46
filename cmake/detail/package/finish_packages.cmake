# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
finish_packages
---------------
Writes the settings of packages, and includes CPack when the project's CMakeLists.txt is processed.

  _fatlink_write_package_settings(<package>)
  _fatlink_finish_packages_later()

``_fatlink_write_package_settings``
  Writes what ``stage.cmake`` reads about a package. The file also includes ``stage.cmake``; it becomes the last
  install rule of its component.
``_fatlink_finish_packages_later``
  Defers ``_fatlink_finish_packages`` to the end of the project's CMakeLists.txt.
#]=======================================================================]
include_guard(GLOBAL)

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
                        SBOM PARTS BUNDLED LICENSES ARCHIVE_COMPONENTS BUILD PYTHON)
    string(APPEND settings "set(${name} [==[${arg_${name}}]==])\n")
  endforeach()
  string(APPEND settings "include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stage.cmake]==])\n")
  set_property(GLOBAL APPEND PROPERTY FATLINK_PACKAGE_SCRIPTS "${script}" "${arg_COMPONENT}")
  file(WRITE "${script}.in" "${settings}")
endfunction()

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
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cpack.cmake")
  get_property(scripts GLOBAL PROPERTY FATLINK_PACKAGE_SCRIPTS)
  while(scripts)
    list(POP_FRONT scripts script component)
    configure_file("${script}.in" "${script}" @ONLY)
    install(SCRIPT "${script}" COMPONENT "${component}")
  endwhile()
  include(CPack)
endfunction()
