// SPDX-License-Identifier: Apache-2.0
// The memory of alloca, for the threads of a warp. A function's memory is released at its return.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "interpreter/decode/operation.hpp"

namespace fatlink::interpreter {

class thread_stacks {
 public:
  /// Offsets in the local window begin here, above those of variables.
  static constexpr std::uint32_t k_base = 1U << 20;
  static constexpr std::uint32_t k_max_bytes = 512U * 1024U;  ///< of a thread

  void clear();  ///< releases all memory
  /// Allocates memory of a function that is called in depth `depth`. Returns its offset in the
  /// local window; nothing if the thread's stack is full. `alignment` is a power of two.
  std::optional<std::uint32_t> allocate(unsigned lane, unsigned depth, std::uint64_t bytes,
                                        std::uint64_t alignment);
  /// Releases what functions in depth `depth` or deeper have allocated.
  void release(lane_mask lanes, unsigned depth);
  /// The end of the memory that is allocated.
  [[nodiscard]] std::uint32_t top(unsigned lane) const noexcept { return lanes_[lane].top; }
  /// Sets the end to an earlier one. False: it is not an earlier one.
  bool restore(unsigned lane, std::uint64_t top);
  /// The host address of `size` bytes at `offset`; null if they are not allocated.
  [[nodiscard]] std::byte* place(unsigned lane, std::uint64_t offset, std::uint64_t size) noexcept;

 private:
  struct mark {
    unsigned depth = 0;
    std::uint32_t top = 0;  ///< before the first allocation of the function
  };
  struct lane_stack {
    std::uint32_t top = k_base;
    std::vector<std::byte> bytes;
    std::vector<mark> marks;
  };

  std::array<lane_stack, k_lanes> lanes_;
  bool is_used_ = false;
};

}  // namespace fatlink::interpreter
