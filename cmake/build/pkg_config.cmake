# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
pkg_config
----------
Installs ``fatlink.pc`` for pkg-config. Its paths are relative to the file if the install folders are inside of the
prefix.
#]=======================================================================]
fatlink_relative_install_path("${CMAKE_INSTALL_LIBDIR}/pkgconfig" "" pc_prefix)
if(NOT IS_ABSOLUTE "${pc_prefix}")
  string(PREPEND pc_prefix "\${pcfiledir}/")
endif()
foreach(folder IN ITEMS LIBDIR INCLUDEDIR LIBEXECDIR DATADIR)
  set(pc_${folder} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${pc_${folder}}")
    set(pc_${folder} "\${prefix}/${pc_${folder}}")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/install_side/fatlink.pc" @ONLY CONTENT [[
prefix=@pc_prefix@
libdir=@pc_LIBDIR@
includedir=@pc_INCLUDEDIR@
sharedir=@pc_DATADIR@/fatlink
link_helper=@pc_LIBEXECDIR@/fatlink-linkd

Name: fatlink
Description: @PROJECT_DESCRIPTION@ (C99, C++20)
Version: @PROJECT_VERSION@
Requires.private: libzstd liblz4 nettle
Libs: -L${libdir} -lfatlink
Libs.private: -ldl -pthread
Cflags: -I${includedir}
]])
install(FILES "${PROJECT_BINARY_DIR}/install_side/fatlink.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
