# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
main_job
--------
The target ``main_job``: what scripts/demo runs, namely the program, its helper, and the fatbins of the library and of
two transforms. The preset ``demo`` builds it without tests, install rules and other fatbins.

``FATLINK_COMPILE_IN_GROUPS``
  Option, default off. Compiles the sources of the helper, and those of the library's folders below, in one step per
  group, which takes fewer steps and less time. Other folders have sources with local names of the same spelling,
  which cannot be compiled together. tests/cmake/test_demo.py checks that the groups compile.
#]=======================================================================]
option(FATLINK_COMPILE_IN_GROUPS "Compile some sources in groups instead of one by one" OFF)

# Makes a group of the library's sources in host/src/<folder>.
function(_fatlink_compile_in_group folder)
  get_target_property(sources fatlink_objects SOURCES)
  list(FILTER sources INCLUDE REGEX "^src/${folder}/")
  list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/host/")
  set_source_files_properties(${sources} TARGET_DIRECTORY fatlink_objects PROPERTIES UNITY_GROUP ${folder})
endfunction()

if(FATLINK_COMPILE_IN_GROUPS)
  set_target_properties(fatlink_linkd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  set_target_properties(fatlink_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(folder IN ITEMS util verification device fatbin link_helper nvjitlink linker
                      cubin input compiler toolkit catalogue cache plan)
    _fatlink_compile_in_group(${folder})
  endforeach()
endif()

add_custom_target(main_job)
add_dependencies(main_job fatlink_program fatlink_linkd apply_transform_fatbin relu_poly gelu)
