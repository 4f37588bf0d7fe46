# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
main_job
--------
The target ``main_job``: what scripts/demo runs, namely the program, its helper, and the fatbins of the library and of
two transforms. The preset ``demo`` builds it without tests, install rules and other fatbins.
#]=======================================================================]
add_custom_target(main_job)
add_dependencies(main_job fatlink_program fatlink_linkd apply_transform_fatbin relu_poly gelu)
