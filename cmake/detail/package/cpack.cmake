# SPDX-License-Identifier: Apache-2.0
# CPack's variables that all packages of fatlink_add_package share; included before CPack. Values that the
# project has set are kept.
macro(_fatlink_default name value)
  if(NOT DEFINED CPACK_${name})
    set(CPACK_${name} "${value}")
  endif()
endmacro()
set(CPACK_PACKAGE_NAME "${PROJECT_NAME}")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
_fatlink_default(PACKAGE_VENDOR "The developers of ${PROJECT_NAME}")
if(NOT CPACK_PACKAGE_CONTACT)
  # The domain "invalid" does not exist: whoever publishes packages sets a contact.
  set(CPACK_PACKAGE_CONTACT "The developers of ${PROJECT_NAME} <developers@${PROJECT_NAME}.invalid>")
endif()
_fatlink_default(GENERATOR "TGZ;DEB;RPM")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 1)  # with several threads the archive's bytes depend on their number
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/generator.cmake")
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
