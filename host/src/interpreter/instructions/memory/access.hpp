// SPDX-License-Identifier: Apache-2.0
// Execution of ld and st, also for other instructions that access memory: where an access is, and
// one handler for each element type, kind of address and memory order.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {

// Copies an element of each lane between memory of the device and a register, by vectors.

/// Whether elements that follow each other may be copied by vectors: x86-64 loads and stores each
/// aligned element of a vector in one piece, so this is as atomic as load_element(). The thread
/// sanitizer cannot know that.
#if defined(__SANITIZE_THREAD__)
constexpr bool k_copies_vectors = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool k_copies_vectors = false;
#else
constexpr bool k_copies_vectors = k_is_x86_64;
#endif
#else
constexpr bool k_copies_vectors = k_is_x86_64;
#endif

typedef long long unaligned_vector __attribute__((vector_size(16), may_alias, aligned(1)));

[[gnu::always_inline]] inline unaligned_vector load_vector(std::byte const* source) noexcept
{
  return *reinterpret_cast<unaligned_vector const volatile*>(source);
}

[[gnu::always_inline]] inline void store_vector(std::byte* target, unaligned_vector value) noexcept
{
  *reinterpret_cast<unaligned_vector volatile*>(target) = value;
}

/// Copies one element of each lane.
template <std::size_t Size>
[[gnu::always_inline]] inline void copy_elements(std::byte* target, std::byte const* source)
{
  constexpr auto k_vectors = k_lanes * Size / sizeof(unaligned_vector);
  unaligned_vector values[k_vectors];
  for (std::size_t i = 0; i < k_vectors; ++i)
    values[i] = load_vector(source + i * sizeof values[i]);
  for (std::size_t i = 0; i < k_vectors; ++i)
    store_vector(target + i * sizeof values[i], values[i]);
}

// The addresses of all lanes of an operation, checked at once: against one region, and for their
// alignment. Which lane is wrong is found only if one is.

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

// Where ld and st access memory: each place checks one lane's access, or those of all lanes at
// once.

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

/// The mutex of the 32 bytes that hold `place`, for accesses of more bytes than the host accesses
/// at once; to be held only during the access. It is free in a child process of fork, which has
/// none of the threads that held it. Threads: safe.
std::mutex& access_lock(std::byte const* place) noexcept;

/// atom of 128 bits; `name` is the operation, and all modifiers are taken.
void emit_wide_atomic(decoding& d, std::string_view name, space space);

// Handlers.

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
      d.fail_unsupported();
  }
}

}  // namespace fatlink::interpreter
