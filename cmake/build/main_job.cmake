# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
main_job
--------
The target ``main_job``: what scripts/demo runs, namely the program, its helper, and the fatbins of the library and of
two transforms. The preset ``demo`` builds it without tests, install rules and other fatbins.

``FATLINK_COMPILE_IN_GROUPS``
  Option, default off; the presets set it. Compiles the sources of the helper, and those of the folders below, in one
  step per group, which takes fewer steps and a third of the time. Other folders have sources with local names of the same spelling,
  which cannot be compiled together. tests/cmake/test_demo.py checks that the groups compile.
  scripts/tidy and the fuzz targets use the groups of folders too, with this option off.
#]=======================================================================]
option(FATLINK_COMPILE_IN_GROUPS "Compile some sources in groups instead of one by one" OFF)

# Makes a group of the target's sources in host/<folder>.
function(_fatlink_compile_in_group target folder)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${folder}/")
  list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/host/")
  string(REPLACE "/" "_" group "${folder}")
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
endfunction()

# Folders of the library and of the program whose sources can be compiled together.
set(FATLINK_LIBRARY_GROUPS util verification device fatbin link_helper nvjitlink linker
  cubin input compiler toolkit catalogue cache cluster plan live c_interface ptx interpreter/decode interpreter/execution)
foreach(family IN ITEMS integers video memory control warps values)
  list(APPEND FATLINK_LIBRARY_GROUPS interpreter/instructions/${family})
endforeach()
set(FATLINK_PROGRAM_GROUPS bench compile doctor inspect pack run terminal)

if(FATLINK_COMPILE_IN_GROUPS)
  set_target_properties(fatlink_linkd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  set_target_properties(fatlink_objects fatlink_program PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(folder IN LISTS FATLINK_LIBRARY_GROUPS)
    _fatlink_compile_in_group(fatlink_objects src/${folder})
  endforeach()
  foreach(folder IN LISTS FATLINK_PROGRAM_GROUPS)
    _fatlink_compile_in_group(fatlink_program cli/${folder})
  endforeach()
endif()

add_custom_target(main_job)
add_dependencies(main_job fatlink_program fatlink_linkd apply_transform_fatbin relu_poly gelu)
