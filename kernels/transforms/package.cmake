# SPDX-License-Identifier: Apache-2.0
# The package fatlink-transforms, built as part of fatlink or separately.
get_property(contracts GLOBAL PROPERTY FATLINK_TRANSFORMS_CONTRACTS)
list(REMOVE_DUPLICATES contracts)
list(SORT contracts COMPARE NATURAL)
fatlink_add_package(fatlink-transforms
  COMPONENT transforms
  SUMMARY "transforms and operators for fatlink's libraries"
  DESCRIPTION "Fatbins that define the hooks of fatlink's libraries (apply_transform,
convert, stencil, and the algorithms), each with a reference for verification,
and linked images of apply_transform for every GPU that CUDA 13 supports."
  LICENSE "${CMAKE_CURRENT_LIST_DIR}/../../LICENSE"
  CHANGELOG "${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md"
  COPYRIGHT "The developers of fatlink"
  LICENSE_ID Apache-2.0
  CONTRACTS ${contracts}
  SBOM "CUDA Toolkit=${CUDAToolkit_VERSION}=LicenseRef-NVIDIA-CUDA-EULA=BUILD_TOOL_OF=NVIDIA Corporation=pkg:generic/cuda-toolkit@${CUDAToolkit_VERSION}"
  ANY_ARCHITECTURE)
