# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
package_variables
-----------------
CPack's variables for one package, from the arguments of ``fatlink_add_package`` in the caller.

  _fatlink_set_common_variables(<package>)
  _fatlink_set_deb_variables(<package> <required contracts> <provided contracts>)
  _fatlink_set_rpm_variables(<package> <required contracts> <provided contracts>)

The variables are global properties ``FATLINK_CPACK_<name>`` until all packages are known
(``finish_packages.cmake``).
#]=======================================================================]
include_guard(GLOBAL)

function(_fatlink_set_variable name value)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_VARIABLES "${name}")
  set_property(GLOBAL PROPERTY FATLINK_CPACK_${name} "${value}")
endfunction()

function(_fatlink_set_common_variables package)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_VARIABLES COMPONENTS_ALL)
  set_property(GLOBAL APPEND PROPERTY FATLINK_CPACK_COMPONENTS_ALL "${arg_COMPONENT}")
  set(architecture "linux-${CMAKE_HOST_SYSTEM_PROCESSOR}")
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
