// SPDX-License-Identifier: Apache-2.0
// Where CUDA's own headers are, for #include <cuda_fp16.h> and <cub/cub.cuh>. The order:
//   1. of the toolkit or wheel that NVRTC belongs to
//   2. those that NVRTC brings, from 13.3 on, unpacked in the cache's folder
//   3. without 1. and 2.: of another toolkit or wheel (toolkit/vendor_library.hpp)
// Threads: no shared state.
#pragma once

#include <filesystem>
#include <vector>

#include "cache/unpacked_headers.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/library_file.hpp"

namespace fatlink::detail {

class cuda_headers {
 public:
  /// `cache`: in whose folder NVRTC unpacks; null, or one in memory only: in that of
  /// default_cache_settings().
  cuda_headers(library_file const& nvrtc, link_cache const* cache);

  /// The folders that are there. Of 3. only if NVRTC brings no headers.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;
  /// The folders where NVRTC cannot unpack its headers: of 1., else of 3.
  [[nodiscard]] std::vector<std::filesystem::path> installed_folders() const;
  /// Whether NVRTC brings headers that 1. lacks and that are not unpacked.
  [[nodiscard]] bool must_unpack() const;
  /// Where NVRTC unpacks its headers.
  [[nodiscard]] cache::unpacked_headers const& unpacked() const noexcept { return unpacked_; }

 private:
  std::vector<std::filesystem::path> own_;
  bool brings_headers_ = false;
  cache::unpacked_headers unpacked_;
};

}  // namespace fatlink::detail
