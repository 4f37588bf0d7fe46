// SPDX-License-Identifier: Apache-2.0
// Execution of ld and st: one handler for each element type, kind of address and memory order.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {

/// operation::flags: the number of elements, and the bytes of a lane of each register.
constexpr std::uint32_t pack_shape(unsigned count, unsigned stride) noexcept
{
  return count | stride << 8;
}
inline unsigned count_of(operation const& o) noexcept
{
  return o.flags & 0xFFU;
}
inline unsigned stride_of(operation const& o) noexcept
{
  return o.flags >> 8 & 0xFFU;
}

/// The host address of a lane's access. `base`: the register a, or null; immediate: the offset.
template <space Space>
std::byte* place(warp& w, operation const& o, std::byte const* base, unsigned size, unsigned lane,
                 bool writes)
{
  auto const address = (base == nullptr ? 0 : load<std::uint64_t>(base, lane)) + o.immediate;
  if constexpr (Space == space::local) return w.resolve_local(address, size, lane, o, writes);
  return w.resolve(address, size, lane, o, writes);
}

/// In shared memory; addresses have 32 or 64 bits.
template <typename Address>
std::byte* place_shared(warp& w, operation const& o, std::byte const* base, unsigned size,
                        unsigned lane, bool writes)
{
  auto const offset = base == nullptr ? std::uint64_t{0} : std::uint64_t{load<Address>(base, lane)};
  return w.resolve_shared(static_cast<Address>(offset + o.immediate), size, lane, o, writes);
}

/// In a .param or .local variable of the frame, at a constant offset.
inline std::byte* place_in_frame(warp& w, operation const& o, std::byte const*, unsigned,
                                 unsigned lane, bool)
{
  return w.local(lane, static_cast<std::uint32_t>(o.immediate));
}

/// In a kernel's parameters.
inline std::byte* place_parameter(warp& w, operation const& o, std::byte const*, unsigned, unsigned,
                                  bool)
{
  return const_cast<std::byte*>(w.launch().parameters.data()) + o.immediate;
}

/// How accesses of an instruction are ordered: not at all, or each element or vector atomically.
enum class ordering { none, element, vector };

using placer = std::byte* (*)(warp&, operation const&, std::byte const*, unsigned, unsigned, bool);

/// Loads an element of device memory. Blocks may race for it: relaxed atomics make that defined on
/// the host, and cost no more than plain accesses.
template <typename M>
M load_element(std::byte* source) noexcept
{
  using bits = std::make_unsigned_t<M>;
  std::atomic_ref<bits> const element(*reinterpret_cast<bits*>(source));
  return static_cast<M>(element.load(std::memory_order_relaxed));
}

template <typename M>
void store_element(std::byte* target, std::byte const* lane) noexcept
{
  using bits = std::make_unsigned_t<M>;
  bits value;
  std::memcpy(&value, lane, sizeof value);
  std::atomic_ref<bits>(*reinterpret_cast<bits*>(target)).store(value, std::memory_order_relaxed);
}

/// Writes a value, extended to the width of a register's lane.
template <typename M>
void put_extended(std::byte* lanes, unsigned lane, unsigned stride, M value) noexcept
{
  using wide = std::conditional_t<std::is_signed_v<M>, std::int64_t, std::uint64_t>;
  auto const bits = static_cast<wide>(value);
  std::memcpy(lanes + lane * stride, &bits, stride);
}

template <typename M, placer Place>
void load_from(warp& w, operation const& o, lane_mask mask)
{
  auto const count = count_of(o);
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const size = static_cast<unsigned>(sizeof(M)) * count;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const source = Place(w, o, base, size, lane, false);
    for (unsigned k = 0; k < count; ++k)
      put_extended(w.at(list[k]), lane, stride, load_element<M>(source + k * sizeof(M)));
  }
}

template <typename M, placer Place>
void store_to(warp& w, operation const& o, lane_mask mask)
{
  auto const count = count_of(o);
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const size = static_cast<unsigned>(sizeof(M)) * count;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const target = Place(w, o, base, size, lane, true);
    if (w.launch().races != nullptr) w.record_write(target, size, lane, o);
    for (unsigned k = 0; k < count; ++k)
      store_element<M>(target + k * sizeof(M), w.at(list[k]) + lane * stride);
  }
}

/// Volatile and ordered accesses of one element: sequentially consistent atomics of the host, so
/// that blocks on different cores see them.
template <typename M, placer Place, bool Store>
void ordered(warp& w, operation const& o, lane_mask mask)
{
  using bits = std::make_unsigned_t<M>;
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto* const lanes = w.at(w.current().code->lists[o.d]);
  poll_digest digest;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const element = reinterpret_cast<bits*>(Place(w, o, base, sizeof(M), lane, Store));
    if constexpr (Store) {
      bits value;
      std::memcpy(&value, lanes + lane * stride, sizeof(M));
      std::atomic_ref<bits>(*element).store(value);
    } else {
      auto const value = std::atomic_ref<bits>(*element).load();
      put_extended(lanes, lane, stride, static_cast<M>(value));
      digest.add(element, value);
    }
  }
  if constexpr (!Store) w.note_poll(o, digest);
}

/// Copies 8 to 32 bytes as one atomic access, with respect to the other accesses of this function.
inline void copy_atomically(void* target, void const* source, std::byte const* element,
                            unsigned size)
{
  static std::array<std::mutex, 64> mutexes;
  std::lock_guard const lock(mutexes[reinterpret_cast<std::uintptr_t>(element) / 32 % 64]);
  std::memcpy(target, source, size);
}

/// Volatile and ordered vectors: each lane's access is atomic, as on GPUs. A status and a value are
/// published together so.
template <typename M, placer Place, bool Store>
void ordered_vector(warp& w, operation const& o, lane_mask mask)
{
  auto const count = count_of(o);
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const size = static_cast<unsigned>(sizeof(M)) * count;
  poll_digest digest;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const place = Place(w, o, base, size, lane, Store);
    M values[8] = {};
    if constexpr (Store) {
      for (unsigned k = 0; k < count; ++k)
        std::memcpy(&values[k], w.at(list[k]) + lane * stride, sizeof(M));
      copy_atomically(place, values, place, size);
    } else {
      copy_atomically(values, place, place, size);
      for (unsigned k = 0; k < count; ++k) {
        put_extended(w.at(list[k]), lane, stride, values[k]);
        digest.add(place, static_cast<std::uint64_t>(values[k]));
      }
    }
  }
  if constexpr (!Store) w.note_poll(o, digest);
}

template <bool Store, typename M, placer Place>
handler pick(ordering order)
{
  if (order == ordering::vector) return &ordered_vector<M, Place, Store>;
  if (order == ordering::element) return &ordered<M, Place, Store>;
  if constexpr (Store)
    return &store_to<M, Place>;
  else
    return &load_from<M, Place>;
}

template <bool Store, placer Place>
handler pick(decoding const& d, type type, ordering order)
{
  switch (size_of(type)) {
    case 1:
      return is_signed(type) ? pick<Store, std::int8_t, Place>(order)
                             : pick<Store, std::uint8_t, Place>(order);
    case 2:
      return is_signed(type) ? pick<Store, std::int16_t, Place>(order)
                             : pick<Store, std::uint16_t, Place>(order);
    case 4:
      return is_signed(type) ? pick<Store, std::int32_t, Place>(order)
                             : pick<Store, std::uint32_t, Place>(order);
    case 8:
      return pick<Store, std::uint64_t, Place>(order);
    default:
      d.refuse();
  }
}

}  // namespace fatlink::interpreter
