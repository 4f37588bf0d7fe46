// SPDX-License-Identifier: Apache-2.0
// Which bytes of a block's shared memory have been written, for the check of uninitialised reads.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace fatlink::interpreter {

class written_bytes {
 public:
  /// Those from `initialized` on count as written, of `size`.
  void reset(std::uint64_t size, std::uint64_t initialized)
  {
    bits_.assign(size, false);
    add(initialized, size - initialized);
  }
  /// The bytes [offset, offset + size) are in the memory.
  void add(std::uint64_t offset, std::uint64_t size) noexcept
  {
    std::fill_n(at(offset), size, true);
  }
  /// The first byte of [offset, offset + size), which is in the memory, that nothing has written.
  [[nodiscard]] std::optional<std::uint64_t> first_missing(std::uint64_t offset,
                                                           std::uint64_t size) noexcept
  {
    auto const begin = at(offset);
    auto const end = begin + static_cast<std::ptrdiff_t>(size);
    auto const missing = std::find(begin, end, false);
    if (missing == end) return std::nullopt;
    return offset + static_cast<std::uint64_t>(missing - begin);
  }

 private:
  std::vector<bool>::iterator at(std::uint64_t offset) noexcept
  {
    return bits_.begin() + static_cast<std::ptrdiff_t>(offset);
  }

  std::vector<bool> bits_;
};

}  // namespace fatlink::interpreter
