# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
groups
------
``FATLINK_COMPILE_IN_GROUPS``
  Option, default off; the presets set it. Compiles the sources of the library, the program, the helper and the tests in
  groups, one step for each, which takes a third of the time: most of the time of a source goes to the headers that it
  includes. Names that are local to a source are therefore unique in its group.

  fatlink_write_group(<group> <source>... OUTPUT <out-var>)

Writes a source that includes the others, by paths relative to the project: so it is the same file in every checkout, and
ccache finds what another checkout compiled. Its compile needs the project's folder among the include folders.

  fatlink_use_groups(<variable> PREFIX <prefix> GROUPS <group>...)

Replaces the sources of each group in the list <variable> by the group's source, named <prefix>.<group>, if
FATLINK_COMPILE_IN_GROUPS is on. Paths in the list are absolute.
#]=======================================================================]
include_guard(GLOBAL)

option(FATLINK_COMPILE_IN_GROUPS "Compile sources in groups instead of one by one" OFF)

# Groups of the interpreter and of the program. Each has a pattern of paths relative to host/. The other folders of host/src
# are a group each (layers.cmake).
set(FATLINK_PROGRAM_GROUPS tools verbs run)
set(_group_machine "src/interpreter/([^/]+$|decode/)")
set(_group_execution "src/interpreter/execution/")
set(_group_memory "src/interpreter/instructions/memory/")
set(_group_floats "src/interpreter/instructions/arithmetic/(approximate|float|half)[.]cpp")
set(_group_conversions "src/interpreter/instructions/arithmetic/convert[.]cpp")
set(_group_instructions "src/interpreter/instructions/")
set(_group_helper "linkd/")
set(_group_tools "cli/((bench|fatbins|terminal)/|(doctor|inspect|source_inputs)[.])")
set(_group_verbs "cli/[^/]+$")  # but for those of the group before
set(_group_run "cli/run/")

function(fatlink_write_group group)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "")
  set(lines "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(APPEND lines "#include \"${source}\"\n")
  endforeach()
  set(file "${PROJECT_BINARY_DIR}/groups/${group}.cpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${lines}" @ONLY)
  set(${arg_OUTPUT} "${file}" PARENT_SCOPE)
endfunction()

# The absolute paths in <sources> that belong to a group.
function(_fatlink_members group sources out)
  set(pattern "src/${group}/")
  if(DEFINED _group_${group})
    set(pattern "${_group_${group}}")
  endif()
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/host/${pattern}")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(fatlink_use_groups variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "GROUPS")
  if(NOT FATLINK_COMPILE_IN_GROUPS)
    return()
  endif()
  set(sources ${${variable}})
  foreach(group IN LISTS arg_GROUPS)
    _fatlink_members(${group} "${sources}" members)
    if(members)
      list(REMOVE_ITEM sources ${members})
      fatlink_write_group(${arg_PREFIX}.${group} ${members} OUTPUT file)
      list(APPEND sources "${file}")
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
