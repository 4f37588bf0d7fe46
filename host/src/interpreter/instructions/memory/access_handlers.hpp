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
#include "interpreter/execution/access_locks.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/access_places.hpp"
#include "interpreter/instructions/memory/copy_elements.hpp"

namespace fatlink::interpreter {

/// How accesses of an instruction are ordered: not at all, or each element or vector atomically.
enum class ordering { none, element, vector };

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

/// Writes a value, extended to the width of a register's lane: `Stride` bytes.
template <unsigned Stride, typename M>
[[gnu::always_inline]] inline void put_extended(std::byte* lanes, unsigned lane, M value) noexcept
{
  using wide = std::conditional_t<std::is_signed_v<M>, std::int64_t, std::uint64_t>;
  auto const bits = static_cast<wide>(value);
  std::memcpy(lanes + lane * Stride, &bits, Stride);
}

template <typename M>
void put_extended(std::byte* lanes, unsigned lane, unsigned stride, M value) noexcept
{
  with_stride<M>(stride, [=](auto width) { put_extended<width>(lanes, lane, value); });
}

/// The host address of a lane's element.
template <typename Address>
[[gnu::always_inline]] inline std::byte* element_of(located const& l, std::uint64_t offset,
                                                    unsigned lane) noexcept
{
  auto const address =
      l.base == nullptr ? offset
                        : std::uint64_t{static_cast<Address>(load<Address>(l.base, lane) + offset)};
  return l.span.data + (address - l.span.begin) + lane * l.span.step;
}

/// Loads the elements at `skipped` bytes from the addresses.
template <typename M, unsigned Stride, typename Address>
[[gnu::always_inline]] inline void load_lanes(std::byte* lanes, located const& l,
                                              std::uint64_t offset, unsigned skipped,
                                              lane_mask mask)
{
  if (l.pattern == lane_pattern::uniform && l.span.step == 0) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto const value = load_element<M>(element_of<Address>(l, offset, lane) + skipped);
    return each_lane(mask, [=](unsigned i) { put_extended<Stride>(lanes, i, value); });
  }
  if (k_copies_vectors && Stride == sizeof(M) && l.pattern == lane_pattern::contiguous)
    return copy_elements<sizeof(M)>(lanes, element_of<Address>(l, offset, 0));
  each_lane(mask, [=](unsigned i) {
    put_extended<Stride>(lanes, i, load_element<M>(element_of<Address>(l, offset, i) + skipped));
  });
}

template <typename M, unsigned Stride, typename Address>
[[gnu::always_inline]] inline void store_lanes(std::byte const* lanes, located const& l,
                                               std::uint64_t offset, unsigned skipped,
                                               lane_mask mask)
{
  if (k_copies_vectors && Stride == sizeof(M) && l.pattern == lane_pattern::contiguous)
    return copy_elements<sizeof(M)>(element_of<Address>(l, offset, 0), lanes);
  for (; mask != 0; mask &= mask - 1) {  // in this order: lanes may write to the same place
    auto const i = static_cast<unsigned>(std::countr_zero(mask));
    store_element<M>(element_of<Address>(l, offset, i) + skipped, lanes + i * Stride);
  }
}

/// The operands of an access of elements M.
struct access_operands {
  std::byte const* base = nullptr;       ///< the register of the addresses; null: the offset is one
  operand_offset const* list = nullptr;  ///< the registers of the elements
  unsigned count = 0;                    ///< of elements
  unsigned stride = 0;                   ///< bytes of a lane of each register
  unsigned size = 0;                     ///< bytes that a lane accesses
};

template <typename M>
access_operands operands_of(warp const& w, operation const& o)
{
  auto const count = count_of(o);
  return {.base = o.a == k_no_operand ? nullptr : w.at(o.a),
          .list = w.current().code->lists.data() + o.d,
          .count = count,
          .stride = stride_of(o),
          .size = static_cast<unsigned>(sizeof(M)) * count};
}

/// Lane by lane: the first wrong one is named.
template <typename M, typename Place>
[[gnu::noinline]] void load_each(warp& w, operation const& o, lane_mask mask)
{
  auto const [base, list, count, stride, size] = operands_of<M>(w, o);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const source = Place::lane(w, o, base, size, lane, false);
    if (w.checks_accesses()) w.record_read(source, size, lane, o);
    for (unsigned k = 0; k < count; ++k)
      put_extended(w.at(list[k]), lane, stride, load_element<M>(source + k * sizeof(M)));
  }
}

template <typename M, typename Place>
[[gnu::noinline]] void store_each(warp& w, operation const& o, lane_mask mask)
{
  auto const [base, list, count, stride, size] = operands_of<M>(w, o);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const target = Place::lane(w, o, base, size, lane, true);
    if (w.checks_accesses()) {
      M values[8] = {};
      for (unsigned k = 0; k < count; ++k)
        std::memcpy(&values[k], w.at(list[k]) + lane * stride, sizeof(M));
      w.record_write(target, size, lane, o, reinterpret_cast<std::byte const*>(values));
    }
    for (unsigned k = 0; k < count; ++k)
      store_element<M>(target + k * sizeof(M), w.at(list[k]) + lane * stride);
  }
}

/// All elements of an access; `Stride`: the bytes of a lane of each register.
template <bool Store, typename M, unsigned Stride, typename Address>
[[gnu::always_inline]] inline void copy_lanes(warp& w, operation const& o, located const& l,
                                              lane_mask mask)
{
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const count = count_of(o);
  for (unsigned k = 0; k < count; ++k) {
    auto const skipped = static_cast<unsigned>(k * sizeof(M));
    if constexpr (Store)
      store_lanes<M, Stride, Address>(w.at(list[k]), l, o.immediate, skipped, mask);
    else
      load_lanes<M, Stride, Address>(w.at(list[k]), l, o.immediate, skipped, mask);
  }
}

template <bool Store, typename M, typename Place>
void access_all(warp& w, operation const& o, lane_mask mask)
{
  using address = typename Place::address;
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto const size = static_cast<unsigned>(sizeof(M)) * count_of(o);
  located l;
  if (!w.checks_accesses()) l = Place::locate(w, o, base, size, mask, Store);
  if (l.pattern == lane_pattern::invalid) {
    if constexpr (Store)
      return store_each<M, Place>(w, o, mask);
    else
      return load_each<M, Place>(w, o, mask);
  }
  if ((size != sizeof(M) || l.span.step != 0) && l.pattern == lane_pattern::contiguous)
    l.pattern = lane_pattern::scattered;  // the elements of a lane follow each other, or its memory
  auto const stride = stride_of(o);
  if constexpr (sizeof(M) <= 2)
    if (stride == 2) return copy_lanes<Store, M, 2, address>(w, o, l, mask);
  if constexpr (sizeof(M) <= 4)
    if (stride == 4) return copy_lanes<Store, M, 4, address>(w, o, l, mask);
  copy_lanes<Store, M, 8, address>(w, o, l, mask);
}

/// Volatile and ordered accesses of one element: sequentially consistent atomics of the host, so
/// that blocks on different cores see them.
template <typename M, typename Place, bool Store>
void ordered(warp& w, operation const& o, lane_mask mask)
{
  using bits = std::make_unsigned_t<M>;
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto* const lanes = w.at(w.current().code->lists[o.d]);
  poll_digest digest;
  if ((o.flags & k_releases) != 0) w.release_accesses();
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const element = reinterpret_cast<bits*>(Place::lane(w, o, base, sizeof(M), lane, Store));
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
  if constexpr (!Store) {
    w.acquire_accesses();
    w.note_poll(o, digest);
  }
}

/// Copies 8 to 32 bytes as one atomic access, with respect to the other accesses of this function.
inline void copy_atomically(void* target, void const* source, std::byte const* element,
                            unsigned size)
{
  std::lock_guard const lock(access_lock(element));
  std::memcpy(target, source, size);
}

/// Volatile and ordered vectors: each lane's access is atomic, as on GPUs. A status and a value are
/// published together so.
template <typename M, typename Place, bool Store>
void ordered_vector(warp& w, operation const& o, lane_mask mask)
{
  auto const [base, list, count, stride, size] = operands_of<M>(w, o);
  poll_digest digest;
  if ((o.flags & k_releases) != 0) w.release_accesses();
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto* const element = Place::lane(w, o, base, size, lane, Store);
    M values[8] = {};
    if constexpr (Store) {
      for (unsigned k = 0; k < count; ++k)
        std::memcpy(&values[k], w.at(list[k]) + lane * stride, sizeof(M));
      copy_atomically(element, values, element, size);
    } else {
      copy_atomically(values, element, element, size);
      for (unsigned k = 0; k < count; ++k) {
        put_extended(w.at(list[k]), lane, stride, values[k]);
        digest.add(element, static_cast<std::uint64_t>(values[k]));
      }
    }
  }
  if constexpr (!Store) {
    w.acquire_accesses();
    w.note_poll(o, digest);
  }
}

template <bool Store, typename M, typename Place>
handler pick(ordering order)
{
  if (order == ordering::vector) return &ordered_vector<M, Place, Store>;
  if (order == ordering::element) return &ordered<M, Place, Store>;
  return for_host<&access_all<Store, M, Place>>();
}

template <bool Store, typename Place>
handler pick(decoding const& d, type type, ordering order)
{
  auto const extends_sign = is_signed(type) && !Store;
  switch (size_of(type)) {
    case 1:
      return extends_sign ? pick<Store, std::int8_t, Place>(order)
                          : pick<Store, std::uint8_t, Place>(order);
    case 2:
      return extends_sign ? pick<Store, std::int16_t, Place>(order)
                          : pick<Store, std::uint16_t, Place>(order);
    case 4:
      return extends_sign ? pick<Store, std::int32_t, Place>(order)
                          : pick<Store, std::uint32_t, Place>(order);
    case 8:
      return pick<Store, std::uint64_t, Place>(order);
    default:
      d.refuse();
  }
}

}  // namespace fatlink::interpreter
