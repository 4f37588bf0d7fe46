// SPDX-License-Identifier: Apache-2.0
// The addresses of all lanes of an operation, checked at once: against one region, and for their
// alignment. Which lane is wrong is found only if one is.
#pragma once

#include <bit>
#include <cstdint>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {

/// How the addresses of the lanes are related.
enum class lane_pattern {
  invalid,     ///< at least one lane may be out of bounds or not aligned
  scattered,   ///< any
  contiguous,  ///< all lanes are active, and each follows the one before
  uniform,     ///< all are equal
};

/// The pattern of accesses of `size` bytes, a power of 2, at `offset` from the addresses of `base`.
/// Address: std::uint32_t or std::uint64_t.
template <typename Address>
[[gnu::always_inline]] inline lane_pattern pattern_of(memory_span const& span,
                                                      std::byte const* base, Address offset,
                                                      unsigned size, lane_mask mask) noexcept
{
  constexpr auto k_sign = Address{1} << (8 * sizeof(Address) - 1);
  auto const limit = static_cast<Address>(span.bytes - size);
  if (span.bytes < size || span.bytes - size >= k_sign) return lane_pattern::invalid;
  auto const begin = static_cast<Address>(span.begin);
  auto const first = load<Address>(base, static_cast<unsigned>(std::countr_zero(mask)));
  Address outside = 0;  // its highest bit is set if a distance is above the limit
  Address misaligned = 0;
  Address differing = 0;
  Address uneven = 0;
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    auto const is_active = (mask >> lane & 1U) != 0;
    auto const address = is_active ? load<Address>(base, lane) : first;
    auto const distance = static_cast<Address>(address + offset - begin);
    outside |= distance | (limit - distance);
    misaligned |= address + offset;
    differing |= address ^ first;
    uneven |= address - static_cast<Address>(first + lane * size);
  }
  if ((outside & k_sign) != 0 || (misaligned & (size - 1)) != 0) return lane_pattern::invalid;
  if (differing == 0) return lane_pattern::uniform;
  return uneven == 0 && mask == k_all_lanes ? lane_pattern::contiguous : lane_pattern::scattered;
}

}  // namespace fatlink::interpreter
