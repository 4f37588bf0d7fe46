# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
layers
------
The folders of host/src as layers, whose order the compiler keeps: an include line that goes against it does not compile.

  fatlink_add_layer(<folder> [USES <folder>...] [HEADERS <pattern>...] [GROUPS <group>...])

Adds the object library fatlink_<folder> of the sources in host/src/<folder>.

``USES``
  The folders whose headers the sources may include, besides those that these use in turn. Each was added before, so there
  is no circle; none is used by another of them, so that the fewest are named.
``HEADERS``
  Public headers of the folder, in host/include/fatlink, beside those that share their name with a source of the folder. A
  public header follows the rule of its folder.
``GROUPS``
  The groups in which the sources are compiled (groups.cmake), instead of one. Groups include the folder's headers, too: so
  each is compiled with the include folders of its own layer, whichever others include it.

In <build>/layers, refused/<folder> has a file with an ``#error`` for each file of the folder. Layers that may not include the
folder search it before host/src. So all paths in messages, debug information and lists of dependencies are those of the
source tree. graph.mmd has all layers as a graph, which scripts/plot-layers plots for docs/architecture.md. <folder>.flags
has the include folders of a layer.
#]=======================================================================]
include_guard(GLOBAL)

set(_fatlink_layers "${PROJECT_BINARY_DIR}/layers")
set(_fatlink_refused "${_fatlink_layers}/refused")
file(REMOVE_RECURSE "${_fatlink_layers}")
file(WRITE "${_fatlink_layers}/graph.mmd" "graph TD\n")

# The paths in include lines of the files of <folder>: those in host/src, and its public headers.
function(_fatlink_layer_includes folder sources patterns out)
  set(public "${PROJECT_SOURCE_DIR}/host/include")
  list(TRANSFORM sources REPLACE ".*/(.+)[.]cpp$" "${public}/fatlink/\\1.hpp")
  list(TRANSFORM patterns PREPEND "${public}/fatlink/")
  file(GLOB headers RELATIVE "${public}" CONFIGURE_DEPENDS ${sources} ${patterns})
  file(GLOB_RECURSE files RELATIVE "${PROJECT_SOURCE_DIR}/host/src" CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/host/src/${folder}/*.[ch]pp")
  set(${out} ${headers} ${files} PARENT_SCOPE)
endfunction()

# Sets <out> to <folders> and those that they use, and refuses wrong ones.
function(_fatlink_layers_below folder folders out)
  set(below "")
  foreach(used IN LISTS folders)
    if(NOT TARGET fatlink_${used})
      message(FATAL_ERROR "fatlink_add_layer(${folder}): USES ${used}: no layer that was added before")
    endif()
    get_target_property(others fatlink_${used} FATLINK_LAYERS_BELOW)
    list(APPEND below ${others})
  endforeach()
  foreach(used IN LISTS folders)
    if(used IN_LIST below)
      message(FATAL_ERROR "fatlink_add_layer(${folder}): USES ${used}: another folder that it uses already does")
    endif()
  endforeach()
  list(APPEND below ${folders})
  list(REMOVE_DUPLICATES below)
  set(${out} ${below} PARENT_SCOPE)
endfunction()

# Lets <folder> include, of the layers before it, only those <below>; and none of them include the files of <folder>, whose
# paths in include lines are <files>.
function(_fatlink_refuse_includes folder below files)
  foreach(file IN LISTS files)
    file(WRITE "${_fatlink_refused}/${folder}/${file}"
      "#error \"this folder may not include ${folder}/: see the layers in host/CMakeLists.txt\"\n")
  endforeach()
  get_property(before GLOBAL PROPERTY FATLINK_LAYERS)
  foreach(other IN LISTS before)
    target_include_directories(fatlink_${other} BEFORE PRIVATE "${_fatlink_refused}/${folder}")
    if(NOT other IN_LIST below)
      target_include_directories(fatlink_${folder} BEFORE PRIVATE "${_fatlink_refused}/${other}")
    endif()
  endforeach()
endfunction()

# The sources of <folder>, and the groups of them, which fuzz targets are compiled from, too.
function(_fatlink_layer_sources folder groups sources_out groups_out)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/host/src/${folder}/*.[ch]pp")
  list(FILTER files EXCLUDE REGEX "landing_pads?[.]cpp$")  # of binaries that are linked: compiler.cmake
  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  set(${sources_out} ${sources} PARENT_SCOPE)
  if(groups)
    set(FATLINK_COMPILE_IN_GROUPS ON)
    fatlink_use_groups(files PREFIX library GROUPS ${groups})
  else()
    fatlink_write_group(library.${folder} ${files} OUTPUT files)
  endif()
  set(${groups_out} ${files} PARENT_SCOPE)
endfunction()

# <layers>/graph.mmd and <folder>.flags, which documents and tests read.
function(_fatlink_describe_layer folder uses)
  set(line "  ${folder}")
  if(uses)
    list(JOIN uses " & " used)
    string(APPEND line " --> ${used}")
  endif()
  file(APPEND "${_fatlink_layers}/graph.mmd" "${line}\n")
  file(GENERATE OUTPUT "${_fatlink_layers}/${folder}.flags"
    CONTENT "-I$<JOIN:$<TARGET_PROPERTY:fatlink_${folder},INCLUDE_DIRECTORIES>,\n-I>\n")
endfunction()

function(fatlink_add_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;HEADERS;GROUPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fatlink_add_layer(${folder}): unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  _fatlink_layers_below(${folder} "${arg_USES}" below)
  _fatlink_layer_sources(${folder} "${arg_GROUPS}" sources groups)
  _fatlink_layer_includes(${folder} "${sources}" "${arg_HEADERS}" files)
  set_property(GLOBAL APPEND PROPERTY FATLINK_LIBRARY_GROUPS ${groups})  # for tests/fuzz
  if(FATLINK_COMPILE_IN_GROUPS)
    set(sources ${groups})
  endif()
  set(target fatlink_${folder})
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES FATLINK_LAYERS_BELOW "${below}"
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/host/include" "${PROJECT_SOURCE_DIR}/host/src" "${PROJECT_SOURCE_DIR}")
  _fatlink_refuse_includes(${folder} "${below}" "${files}")
  set(used ${arg_USES})
  list(TRANSFORM used PREPEND fatlink_)
  target_link_libraries(${target} PUBLIC ${used})
  fatlink_warnings(${target})
  fatlink_harden(${target})
  set_property(GLOBAL APPEND PROPERTY FATLINK_LAYERS ${folder})
  _fatlink_describe_layer(${folder} "${arg_USES}")
endfunction()
