# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
main_job
--------
The target ``main_job``: what scripts/demo runs, namely the program, its helper, and the fatbins of the library and of
two transforms. The preset ``demo`` builds it without tests, install rules and other fatbins.

``FATLINK_UNITY_PROGRAMS``
  Option, default off. Compiles the sources of the program and of the helper in groups, which takes fewer steps and
  less time than one by one. The sources of the library define local names of the same spelling, so they are always
  compiled one by one.
#]=======================================================================]
option(FATLINK_UNITY_PROGRAMS "Compile the sources of the program and of the helper in groups" OFF)
if(FATLINK_UNITY_PROGRAMS)
  set_target_properties(fatlink_program fatlink_linkd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endif()

add_custom_target(main_job)
add_dependencies(main_job fatlink_program fatlink_linkd apply_transform_fatbin relu_poly gelu)
