# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_package_text
--------------------
A package as idents name it: its name, then its version where one is known.

  fatlink_package_text(<caller> <name> <version> <out-var>)

Where ``<name>`` is empty it is the project's, with the project's version; a project's name that no
package could have gives nothing. Anything else malformed stops configuration.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_package_text caller name version out)
  set(well_formed "^[A-Za-z0-9][A-Za-z0-9+._-]*$")
  if(name)
    if(NOT name MATCHES "${well_formed}")
      message(FATAL_ERROR "${caller}: PACKAGE '${name}': a package's name is letters, digits and + . _ -")
    endif()
  elseif(version)
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION ${version} without PACKAGE")
  elseif(PROJECT_NAME MATCHES "${well_formed}")
    set(name "${PROJECT_NAME}")
  endif()
  if(NOT version)
    set(version "${PROJECT_VERSION}")
  elseif(NOT version MATCHES "^[0-9][A-Za-z0-9.+:~-]*$")
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION '${version}': is no version, such as 1.2.0")
  endif()
  set(text "${name}")
  if(name AND version)
    string(APPEND text " ${version}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
