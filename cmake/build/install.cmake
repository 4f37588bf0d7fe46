# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
install
-------
The install rules, by component. The install folders are those of GNUInstallDirs; a folder outside of
``CMAKE_INSTALL_PREFIX`` stays where it is when the tree is moved. The build tree has the same layout, with
``libexec`` and ``share``, so ``find_package(fatlink)`` works with the build tree, the install tree, and a moved
install tree.

``runtime``
  The program, its helper, the shared library, the library fatbins, the manual page, the completions, README,
  LICENSE, and bundled third-party libraries if they are requested.
``transforms``
  The fatbins of the transforms, each with its ``.json``, and their linked images.
``development``
  Headers, the static library, the CMake package, ``fatlink.pc``, documentation and examples.  With ``FATLINK_WHEEL``
  no static library, documentation and examples (wheel.cmake).
``tests``
  fatlink's own tests and their fixtures (tests/install.cmake).
#]=======================================================================]
include("${CMAKE_CURRENT_LIST_DIR}/bundle/bundle_libraries.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/bundle/notices.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/bundle/redistributable.cmake")

if(FATLINK_WHEEL)
  include("${CMAKE_CURRENT_LIST_DIR}/wheel.cmake")
else()
  install(TARGETS fatlink_shared fatlink_static fatlink_program EXPORT fatlinkTargets
    RUNTIME COMPONENT runtime
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
endif()
install(TARGETS fatlink_linkd RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
        "${PROJECT_SOURCE_DIR}/SECURITY.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
fatlink_install_notices(runtime CLI/CLI.hpp fmt/format.h nlohmann/json.hpp)
fatlink_install_notices(development fmt/format.h nlohmann/json.hpp)
fatlink_bundle_libraries()
# fatlink searches this folder, but the loader does not, so other programs do not pick the libraries up.
fatlink_bundle_cuda(DESTINATION lib/fatlink COMPONENT runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/include/fatlink" TYPE INCLUDE COMPONENT development)
include("${CMAKE_CURRENT_LIST_DIR}/cmake_package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/pkg_config.cmake")
