# SPDX-License-Identifier: Apache-2.0
# fatlink's packages: one per install component.
include(FatlinkAddPackage)
include(package_parts)
foreach(component IN ITEMS runtime development tests)
  fatlink_package_parts(${component} parts)
  set_property(GLOBAL PROPERTY FATLINK_PACKAGE_PARTS_${component} "${parts}")
endforeach()

# The contracts of the runtime's libraries: those that state its package.
get_property(runtime_contracts GLOBAL PROPERTY FATLINK_CONTRACTS)
foreach(contract IN LISTS runtime_contracts)
  get_target_property(package fatlink_contract_${contract} FATLINK_CONTRACT_PACKAGE)
  if(NOT package MATCHES "^fatlink-runtime ")
    list(REMOVE_ITEM runtime_contracts ${contract})
  endif()
endforeach()

fatlink_add_package(fatlink-runtime
  COMPONENT runtime
  SUMMARY "link CUDA fatbins at run time with nvJitLink"
  DESCRIPTION "Links kernels of CUDA libraries with the device functions that define
their hooks, from fatbins that were compiled once; runs and verifies the result,
on a reference device if there is no GPU. Holds the program, its helper process,
the shared library, and libraries of kernels with hooks: apply_transform, convert,
stencil, and algorithms (reduce, scan, sort, select, histogram, map)."
  COPYRIGHT "The developers of fatlink"
  LICENSE_ID Apache-2.0
  OVERRIDES "${PROJECT_SOURCE_DIR}/cmake/build/debian/fatlink-runtime.lintian-overrides"
  DEB_CONTROL "${PROJECT_SOURCE_DIR}/cmake/build/debian/triggers"
  PROVIDES_CONTRACTS ${runtime_contracts}
  ARCHIVE_COMPONENTS transforms  # so that `fatlink run` works with this archive only
  # nvJitLink is opened with dlopen. NVIDIA's cuda-toolkit-13 is the newest of CUDA 13, whatever its number.
  DEB_RECOMMENDS fatlink-transforms
    "libnvjitlink-13-0 | libnvjitlink-13-1 | libnvjitlink-13-2 | libnvjitlink-13-3 | libnvjitlink-13-4 | libnvjitlink-13-5 | cuda-toolkit-13"
  RPM_RECOMMENDS fatlink-transforms "(libnvjitlink-13-0 or libnvjitlink-13-1 or libnvjitlink-13-2 or libnvjitlink-13-3 or libnvjitlink-13-4 or libnvjitlink-13-5 or cuda-toolkit-13)")

include("${PROJECT_SOURCE_DIR}/kernels/transforms/package.cmake")

fatlink_add_package(fatlink-development
  COMPONENT development
  SUMMARY "build libraries, transforms and applications with fatlink"
  DESCRIPTION "Headers, the static library, the CMake package, the
documentation and the examples of fatlink. Device code needs nvcc of CUDA 13."
  COPYRIGHT "The developers of fatlink"
  LICENSE_ID Apache-2.0
  DEB_DEPENDS "fatlink-runtime (= ${PROJECT_VERSION})" libzstd-dev liblz4-dev nettle-dev
  DEB_RECOMMENDS "cmake (>= 3.25)" "cuda-nvcc-13-0 | cuda-toolkit-13" "python3 (>= 3.9)"  # for packages of fatlink_add_package
  RPM_REQUIRES "fatlink-runtime = ${PROJECT_VERSION}" libzstd-devel lz4-devel nettle-devel)

if(FATLINK_BUILD_TESTS)
  fatlink_add_package(fatlink-tests
    COMPONENT tests
    SUMMARY "test an installed fatlink"
    DESCRIPTION "fatlink's own tests for a machine with its packages but without
compiler and sources: /usr/libexec/fatlink-tests/run. Tests that need a GPU or
nvJitLink are skipped, with the reason, where it is missing."
    COPYRIGHT "The developers of fatlink"
    LICENSE_ID Apache-2.0
    OVERRIDES "${PROJECT_SOURCE_DIR}/cmake/build/debian/fatlink-tests.lintian-overrides"
    DEB_DEPENDS "fatlink-runtime (= ${PROJECT_VERSION})" fatlink-transforms
    DEB_RECOMMENDS python3
    RPM_REQUIRES "fatlink-runtime = ${PROJECT_VERSION}" fatlink-transforms
    RPM_RECOMMENDS python3)
endif()
