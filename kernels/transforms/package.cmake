# SPDX-License-Identifier: Apache-2.0
# The package fatlink-transforms, built as part of fatlink or separately.
fatlink_add_package(fatlink-transforms
  COMPONENT transforms
  SUMMARY "transforms for fatlink: relu_poly, gelu, damped_sine, softsign, identity"
  DESCRIPTION "Fatbins that define the hook of fatlink's apply_transform, each with a
reference for verification, and their linked images for every GPU that CUDA 13
supports."
  LICENSE "${CMAKE_CURRENT_LIST_DIR}/../../LICENSE"
  CHANGELOG "${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md"
  COPYRIGHT "The developers of fatlink"
  LICENSE_ID Apache-2.0
  CONTRACTS apply_transform
  SBOM "CUDA Toolkit=${CUDAToolkit_VERSION}=LicenseRef-NVIDIA-CUDA-EULA=BUILD_TOOL_OF=NVIDIA Corporation=pkg:generic/cuda-toolkit@${CUDAToolkit_VERSION}"
  ANY_ARCHITECTURE)
