// SPDX-License-Identifier: Apache-2.0
// ld and st, of every width and vector, in every state space.
// Source: PTX ISA 9.0, "Data Movement and Conversion Instructions".
#include <algorithm>
#include <array>
#include <atomic>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/races.hpp"
#include "interpreter/instructions/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

/// In operation::flags: how many elements, and the bytes of a lane of each register.
constexpr std::uint32_t pack_shape(unsigned count, unsigned stride) noexcept
{
  return count | stride << 8;
}
unsigned count_of(operation const& o) noexcept
{
  return o.flags & 0xFFU;
}
unsigned stride_of(operation const& o) noexcept
{
  return o.flags >> 8 & 0xFFU;
}

/// The host address of lane i's access. a: the base's register, or none; immediate: the offset.
template <space In>
std::byte* place(warp& w, operation const& o, std::byte const* base, unsigned size, unsigned lane,
                 bool writes)
{
  auto const address = (base == nullptr ? 0 : load<std::uint64_t>(base, lane)) + o.immediate;
  if constexpr (In == space::local) return w.resolve_local(address, size, lane, o, writes);
  return w.resolve(address, size, lane, o, writes);
}

/// Shared memory's addresses have 32 bits, or 64.
template <typename Address>
std::byte* place_shared(warp& w, operation const& o, std::byte const* base, unsigned size,
                        unsigned lane, bool writes)
{
  auto const offset = base == nullptr ? std::uint64_t{0} : std::uint64_t{load<Address>(base, lane)};
  return w.resolve_shared(static_cast<Address>(offset + o.immediate), size, lane, o, writes);
}

/// A static .param or .local variable of the frame: its place is known.
std::byte* place_in_frame(warp& w, operation const& o, std::byte const*, unsigned, unsigned lane,
                          bool)
{
  return w.local(lane, static_cast<std::uint32_t>(o.immediate));
}

/// A kernel's parameter.
std::byte* place_parameter(warp& w, operation const& o, std::byte const*, unsigned, unsigned, bool)
{
  return const_cast<std::byte*>(w.launch().parameters.data()) + o.immediate;
}

using placer = std::byte* (*)(warp&, operation const&, std::byte const*, unsigned, unsigned, bool);

/// An element of device memory. Threads of different blocks may read and write it at once, with
/// whatever result: relaxed atomics cost no more than plain accesses, and are defined on the host.
template <typename M>
M load_element(std::byte* from) noexcept
{
  using bits = std::make_unsigned_t<M>;
  std::atomic_ref<bits> const at(*reinterpret_cast<bits*>(from));
  return static_cast<M>(at.load(std::memory_order_relaxed));
}

template <typename M>
void store_element(std::byte* to, std::byte const* lane) noexcept
{
  using bits = std::make_unsigned_t<M>;
  bits value;
  std::memcpy(&value, lane, sizeof value);
  std::atomic_ref<bits>(*reinterpret_cast<bits*>(to)).store(value, std::memory_order_relaxed);
}

/// Extends to a register's lane.
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
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(left));
    auto* const from = Place(w, o, base, size, lane, false);
    for (unsigned k = 0; k < count; ++k)
      put_extended(w.at(list[k]), lane, stride, load_element<M>(from + k * sizeof(M)));
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
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(left));
    auto* const to = Place(w, o, base, size, lane, true);
    if (w.launch().races != nullptr) w.note_write(to, size, lane, o);
    for (unsigned k = 0; k < count; ++k)
      store_element<M>(to + k * sizeof(M), w.at(list[k]) + lane * stride);
  }
}

/// Volatile and ordered accesses of one element: atomic on the host, so that blocks on different
/// cores see each other's.
template <typename M, placer Place, bool Store>
void ordered(warp& w, operation const& o, lane_mask mask)
{
  using bits = std::make_unsigned_t<M>;
  auto const stride = stride_of(o);
  auto const* const base = o.a == k_no_operand ? nullptr : w.at(o.a);
  auto* const lanes = w.at(w.current().code->lists[o.d]);
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(left));
    auto* const at = reinterpret_cast<bits*>(Place(w, o, base, sizeof(M), lane, Store));
    if constexpr (Store) {
      bits value;
      std::memcpy(&value, lanes + lane * stride, sizeof(M));
      std::atomic_ref<bits>(*at).store(value);
    } else {
      put_extended(lanes, lane, stride, static_cast<M>(std::atomic_ref<bits>(*at).load()));
    }
  }
}

template <bool Store, typename M, placer Place>
handler pick(bool is_ordered)
{
  if (is_ordered) return &ordered<M, Place, Store>;
  if constexpr (Store)
    return &store_to<M, Place>;
  else
    return &load_from<M, Place>;
}

template <bool Store, placer Place>
handler pick(decoding const& d, type as, bool is_ordered)
{
  switch (size_of(as)) {
    case 1:
      return is_signed(as) ? pick<Store, std::int8_t, Place>(is_ordered)
                           : pick<Store, std::uint8_t, Place>(is_ordered);
    case 2:
      return is_signed(as) ? pick<Store, std::int16_t, Place>(is_ordered)
                           : pick<Store, std::uint16_t, Place>(is_ordered);
    case 4:
      return is_signed(as) ? pick<Store, std::int32_t, Place>(is_ordered)
                           : pick<Store, std::uint32_t, Place>(is_ordered);
    case 8:
      return pick<Store, std::uint64_t, Place>(is_ordered);
    default:
      d.refuse();
  }
}

/// What is said of an access beside where it goes.
struct access {
  space in = space::generic;
  unsigned count = 1;
  type as = type::b32;
  bool ordered = false;
};

/// Words that say how to cache, and change nothing of what is read.
void take_cache_words(decoding& d)
{
  static constexpr std::array<std::string_view, 8> k_words{"ca", "cg", "cs", "lu",
                                                           "cv", "wb", "wt", "nc"};
  for (auto const word : k_words) (void)d.take(word);
  static constexpr std::array<std::string_view, 8> k_hints{
      "L1::evict_normal", "L1::evict_unchanged",
      "L1::evict_first",  "L1::evict_last",
      "L1::no_allocate",  "L2::64B",
      "L2::128B",         "L2::256B"};
  for (auto const word : k_hints) (void)d.take(word);
}

access take_access(decoding& d)
{
  access found;
  found.as = d.take_type();
  if (size_of(found.as) == 0) d.refuse();
  (void)d.take("weak");
  found.ordered = d.take("volatile");
  found.ordered |= take_order(d);
  take_scope(d);
  take_cache_words(d);
  for (auto const& [word, count] : {std::pair{"v2", 2U}, {"v4", 4U}, {"v8", 8U}})
    if (d.take(word)) found.count = count;
  found.in = take_space(d);
  if (found.count * size_of(found.as) > 32) d.refuse();
  if (found.count > 1) found.ordered = false;
  return found;
}

/// A variable that the frame or the launch holds, at an offset that is known.
bool is_static(decoding const& d, syntax::operand const& address) noexcept
{
  if (address.parts.empty() || address.parts[0].kind != operand_kind::variable) return false;
  auto const in = d.function().variables[address.parts[0].index].space;
  return in == space::param || in == space::local;
}

struct destination {
  operand_offset base = k_no_operand;
  std::uint64_t offset = 0;
  handler run = nullptr;
};

template <bool Store>
destination static_place(decoding& d, access const& how, syntax::operand const& address)
{
  auto const& base = address.parts[0];
  auto const& variable = d.function().variables[base.index];
  auto const at = d.slot_of(base.index);
  auto const offset = static_cast<std::uint64_t>(address.offset);
  auto const size = std::uint64_t{how.count} * size_of(how.as);
  if (offset > at.size || size > at.size - offset) d.reject("outside of " + variable.name);
  if ((at.offset + offset) % size != 0) d.reject("not aligned to its size");
  auto const of_kernel = d.is_kernel_parameter(base.index);
  if (of_kernel && Store) d.reject("writes a kernel's parameter");
  return {k_no_operand, at.offset + offset,
          of_kernel ? pick<Store, place_parameter>(d, how.as, false)
                    : pick<Store, place_in_frame>(d, how.as, false)};
}

template <bool Store>
handler pick_computed(decoding& d, access const& access, unsigned width)
{
  if (access.in == space::shared)
    return width == 4 ? pick<Store, place_shared<std::uint32_t>>(d, access.as, access.ordered)
                      : pick<Store, place_shared<std::uint64_t>>(d, access.as, access.ordered);
  if (access.in == space::local) return pick<Store, place<space::local>>(d, access.as, false);
  return pick<Store, place<space::generic>>(d, access.as, access.ordered);
}

template <bool Store>
destination computed_place(decoding& d, access const& access, syntax::operand const& operand)
{
  auto const address = decode_address(d, operand, access.in);
  return {address.base, address.offset, pick_computed<Store>(d, access, address.width)};
}

/// The registers read or written, and the width they share.
struct elements {
  std::vector<operand_offset> at;
  unsigned stride = 0;
};

template <bool Store>
elements take_elements(decoding& d, access const& how, syntax::operand const& operand)
{
  std::vector<syntax::operand> parts{operand};
  if (operand.kind == operand_kind::vector) parts = operand.parts;
  if (parts.size() != how.count) d.reject("the vector is of another length");
  auto width = std::max(size_of(how.as), 2U);
  for (auto const& part : parts) width = std::max(width, d.width_of(part));
  auto const held = width == 8 ? type::b64 : width == 4 ? type::b32 : type::b16;
  elements found;
  found.stride = width;
  for (auto const& part : parts) {
    auto const same = size_of(how.as) == width;
    found.at.push_back(Store ? d.source(part, same ? how.as : held) : d.destination(part, held));
  }
  return found;
}

template <bool Store>
void decode_access(decoding& d)
{
  auto const how = take_access(d);
  d.expect_count(2, 2);
  auto const& address = d.operand(Store ? 0 : 1);
  auto const found = take_elements<Store>(d, how, d.operand(Store ? 1 : 0));
  auto const where = is_static(d, address) ? static_place<Store>(d, how, address)
                                           : computed_place<Store>(d, how, address);
  auto const list = d.add_list(found.at);
  auto& o = d.emit(where.run);
  o.d = list;
  o.a = where.base;
  o.immediate = where.offset;
  o.flags = pack_shape(how.count, found.stride);
}

}  // namespace

void add_access(decode_table& to)
{
  to["ld"] = &decode_access<false>;
  to["ldu"] = &decode_access<false>;
  to["st"] = &decode_access<true>;
}

}  // namespace fatlink::interpreter
