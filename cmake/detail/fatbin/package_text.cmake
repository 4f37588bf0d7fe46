# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
fatlink_package_text
--------------------
Gives a package as idents state it: its name, followed by its version if one is known.

  fatlink_package_text(<caller> <name> <version> <out-var>)

If ``<name>`` is empty, the project's name and version are used; the result is empty if the project's name cannot be
a package name. A malformed name or version, or a version without a name, stops configuration.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_package_text caller name version text_out)
  set(well_formed "^[A-Za-z0-9][A-Za-z0-9+._-]*$")
  if(name)
    if(NOT name MATCHES "${well_formed}")
      message(FATAL_ERROR "${caller}: PACKAGE '${name}': a package's name consists of letters, digits and + . _ -")
    endif()
  elseif(version)
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION ${version} without PACKAGE")
  elseif(PROJECT_NAME MATCHES "${well_formed}")
    set(name "${PROJECT_NAME}")
  endif()
  if(NOT version)
    set(version "${PROJECT_VERSION}")
  elseif(NOT version MATCHES "^[0-9][A-Za-z0-9.+:~-]*$")
    message(FATAL_ERROR "${caller}: PACKAGE_VERSION '${version}': expected a version such as 1.2.0")
  endif()
  set(text "${name}")
  if(name AND version)
    string(APPEND text " ${version}")
  endif()
  set(${text_out} "${text}" PARENT_SCOPE)
endfunction()
