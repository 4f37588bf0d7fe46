// SPDX-License-Identifier: Apache-2.0
// The headers that NVRTC 13.3 and newer brings, unpacked once in the user's folder:
// <folder> ::= "headers/" 16 hexadecimal digits of the SHA-256 of NVRTC's identity
// NVRTC writes the files. Processes that unpack at once wait for each other by its lock, and its
// version file is written last (observed with 13.5): without that file the folder is being
// written, or its writer died, and NVRTC writes all files again. They do not count towards the
// limit of the cache. Threads: safe.
#pragma once

#include <filesystem>
#include <string>

#include "cache/folder.hpp"

namespace fatlink::cache {

class unpacked_headers {
 public:
  /// `cache_folder`: the user's folder; empty: there is none.
  unpacked_headers(std::filesystem::path cache_folder, std::string const& identity);

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  /// Whether all headers are there. False if a folder is not safe to use.
  [[nodiscard]] bool are_complete() const;
  /// Creates the folder, in which NVRTC then writes.
  /// @throws fault there is no user's folder, it is not safe to use, or cannot be written.
  void make_folder() const;

 private:
  std::filesystem::path cache_folder_;
  std::filesystem::path path_;
};

/// Removes the headers of every NVRTC. A process that reads them meanwhile may not find one.
/// @throws fault
void remove_unpacked_headers(folder const& cache_folder);

}  // namespace fatlink::cache
