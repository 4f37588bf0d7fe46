// SPDX-License-Identifier: Apache-2.0
// Where CUDA's own headers are, for #include <cuda_fp16.h> and <cub/cub.cuh>. Threads: safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fatlink::detail {

/// The folders with CUDA's headers and CCCL's: those of the toolkit or wheel that the NVRTC in
/// `nvrtc_file` belongs to, else of another one of the search (toolkit/vendor_library.hpp); else
/// those that NVRTC 13.3 and newer unpacked to `unpacked`. Empty: there are none.
std::vector<std::filesystem::path> cuda_header_folders(std::filesystem::path const& nvrtc_file,
                                                       std::filesystem::path const& unpacked);

/// The folder for headers that the NVRTC with `identity` unpacks, in the cache's `folder`; empty if
/// that is empty.
std::filesystem::path unpacked_headers_folder(std::filesystem::path const& folder,
                                              std::string const& identity);

}  // namespace fatlink::detail
