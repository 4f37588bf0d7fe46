// SPDX-License-Identifier: Apache-2.0
// Where ld and st access memory: each place checks one lane's access, or those of all lanes at
// once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lane_pattern.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {

/// operation::flags: the number of elements, and the bytes of a lane of each register.
constexpr std::uint32_t pack_shape(unsigned count, unsigned stride) noexcept
{
  return count | stride << 8;
}
/// Another flag: what the thread has accessed before comes before the access.
constexpr std::uint32_t k_releases = 1U << 16;
inline unsigned count_of(operation const& o) noexcept
{
  return o.flags & 0xFFU;
}
inline unsigned stride_of(operation const& o) noexcept
{
  return o.flags >> 8 & 0xFFU;
}

/// The addresses of the lanes of an access, as a handler needs them.
struct located {
  memory_span span = {};
  std::byte const* base = nullptr;  ///< the register of the addresses; null: the offset is one
  lane_pattern pattern = lane_pattern::invalid;
};

/// Where an access is: its address is a register, `base`, plus operation::immediate. lane() checks
/// one lane's access and returns its host address; locate() checks all lanes at once.
template <space Space>
struct place {
  using address = std::uint64_t;

  static std::byte* lane(warp& w, operation const& o, std::byte const* base, unsigned size,
                         unsigned lane, bool writes)
  {
    auto const address = (base == nullptr ? 0 : load<std::uint64_t>(base, lane)) + o.immediate;
    if constexpr (Space == space::local) return w.resolve_local(address, size, lane, o, writes);
    return w.resolve(address, size, lane, o, writes);
  }

  static located locate(warp& w, operation const& o, std::byte const* base, unsigned size,
                        lane_mask mask, bool writes)
  {
    if (base == nullptr) return {};
    auto const first =
        load<std::uint64_t>(base, static_cast<unsigned>(std::countr_zero(mask))) + o.immediate;
    memory_span span;
    if constexpr (Space == space::local)
      span = w.local_span_at(first);
    else
      span = w.span_at(o, first);
    if (span.data == nullptr || (writes && span.read_only)) return {};
    return {span, base, pattern_of<std::uint64_t>(span, base, o.immediate, size, mask)};
  }
};

/// In shared memory; addresses have 32 or 64 bits.
template <typename Address>
struct place_shared {
  using address = Address;

  static std::byte* lane(warp& w, operation const& o, std::byte const* base, unsigned size,
                         unsigned lane, bool writes)
  {
    auto const offset =
        base == nullptr ? std::uint64_t{0} : std::uint64_t{load<Address>(base, lane)};
    return w.resolve_shared(static_cast<Address>(offset + o.immediate), size, lane, o, writes);
  }

  static located locate(warp& w, operation const& o, std::byte const* base, unsigned size,
                        lane_mask mask, bool)
  {
    memory_span const span{0, w.block().shared_bytes(), w.block().shared(), 0, false};
    auto const offset = static_cast<Address>(o.immediate);
    if (base != nullptr) return {span, base, pattern_of<Address>(span, base, offset, size, mask)};
    auto const is_valid =
        (offset & (size - 1)) == 0 && span.bytes >= size && offset <= span.bytes - size;
    return {span, base, is_valid ? lane_pattern::uniform : lane_pattern::invalid};
  }
};

/// In a .param or .local variable of the frame, at a constant offset.
struct place_in_frame {
  using address = std::uint64_t;

  static std::byte* lane(warp& w, operation const& o, std::byte const*, unsigned, unsigned lane,
                         bool)
  {
    return w.local(lane, static_cast<std::uint32_t>(o.immediate));
  }

  static located locate(warp& w, operation const&, std::byte const*, unsigned, lane_mask, bool)
  {
    return {{0, 0, w.local(0, 0), static_cast<std::size_t>(w.local(1, 0) - w.local(0, 0)), false},
            nullptr,
            lane_pattern::uniform};
  }
};

/// In a kernel's parameters.
struct place_parameter {
  using address = std::uint64_t;

  static std::byte* lane(warp& w, operation const& o, std::byte const*, unsigned, unsigned, bool)
  {
    return const_cast<std::byte*>(w.launch().parameters.data()) + o.immediate;
  }

  static located locate(warp& w, operation const&, std::byte const*, unsigned, lane_mask, bool)
  {
    return {{0, 0, const_cast<std::byte*>(w.launch().parameters.data()), 0, true},
            nullptr,
            lane_pattern::uniform};
  }
};

}  // namespace fatlink::interpreter
