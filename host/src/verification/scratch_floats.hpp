// SPDX-License-Identifier: Apache-2.0
// An array of floats in an unnamed file of $TMPDIR, to save memory. Threads: one at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "util/files/read_file.hpp"

namespace fatlink::detail {

class scratch_floats {
 public:
  /// Empty. Where the folder holds no such file, append() returns false.
  scratch_floats();

  /// Whether all `values` are written after the others: not if the file system is full.
  bool append(std::span<float const> values) noexcept;
  /// Copies the elements from `start`.
  /// @throws file_error (unreadable-file) the file cannot be read, or ends earlier.
  void read(std::span<float> destination, std::size_t start) const;

 private:
  std::filesystem::path folder_;
  descriptor file_;
};

}  // namespace fatlink::detail
