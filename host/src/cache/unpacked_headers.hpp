// SPDX-License-Identifier: Apache-2.0
// The headers that NVRTC 13.3 and newer brings, unpacked once in the user's folder:
// <folder> ::= "headers/" 16 hexadecimal digits of the SHA-256 of NVRTC's identity
// NVRTC writes the files. Processes that unpack at once wait for each other by its lock, and its
// version file is written last (observed with 13.5): without that file the folder is being
// written, or its writer died, and NVRTC writes all files again. They do not count towards the
// limit of the cache.
// Beside the folder is the list of its files, made after NVRTC ended:
// <list> ::= <folder> ".list": "fatlink headers 1\n", then for each file
//   SHA-256 " " size " " modification time " " change time " " relative path "\n"
// Times: nanoseconds since 1970. Every compile compares all but the digests, which
// `fatlink cache verify` compares. Headers that differ from the list are unpacked anew.
// Threads: safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cache/folder.hpp"
#include "fatlink/cache.hpp"

namespace fatlink::cache {

class unpacked_headers {
 public:
  /// `cache_folder`: the user's folder; empty: there is none.
  unpacked_headers(std::filesystem::path cache_folder, std::string const& identity);

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  /// Whether all headers are there as NVRTC wrote them. False if a folder is not safe to use.
  [[nodiscard]] bool are_complete() const;
  /// Creates the folder, in which NVRTC then writes; removes what is there unless it is complete.
  /// Waits until no other process unpacks there, at most 30 s; the result excludes others until the
  /// files are recorded.
  /// @throws folder_error there is no user's folder, it is not safe to use, or cannot be written.
  [[nodiscard]] std::optional<lock> make_folder() const;
  /// Writes the list of the files that NVRTC wrote. @throws folder_error
  void record() const;

 private:
  std::filesystem::path cache_folder_;
  std::filesystem::path path_;
};

/// Reads the headers of every NVRTC whole: each NVRTC's are one entry, sound or damaged.
/// @throws folder_error
cache_verification verify_unpacked_headers(folder const& cache_folder);
/// Removes the headers that verify_unpacked_headers() finds damaged, for how many NVRTCs.
/// @throws folder_error
std::uint64_t remove_damaged_headers(folder const& cache_folder);
/// Removes the headers of every NVRTC. A process that reads them meanwhile may not find one.
/// @throws folder_error
void remove_unpacked_headers(folder const& cache_folder);

}  // namespace fatlink::cache
