// SPDX-License-Identifier: Apache-2.0
// Instructions on addresses: cvta between state spaces, isspacep, mapa and getctarank within a
// cluster; alloca, stacksave and stackrestore. Source: PTX ISA 9.0, "Data Movement and Conversion
// Instructions", "Stack Manipulation Instructions".
#include <bit>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// cvta, to a generic address or from one. Only shared memory has addresses of its own.
template <typename T, bool To>
void shift_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const address = load<T>(a, i);
    store<T>(d, i, static_cast<T>(To ? address - o.immediate : address + o.immediate));
  });
}

void decode_cvta(decoding& d)
{
  auto const type = d.take_type();
  auto const is_to = d.take("to");
  auto const space = ptx::parse_space(d.take_next());
  if (!space || !is_integer(type) || size_of(type) != 8) d.fail_unsupported();
  d.expect_count(2, 2);
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o =
      d.emit(is_to ? &shift_address<std::uint64_t, true> : &shift_address<std::uint64_t, false>);
  o.d = result;
  o.a = a;
  o.immediate = *space == ptx::space::shared ? k_shared_window : 0;
}

// isspacep: whether a generic address lies in a state space.

bool in_window(std::uint64_t address, std::uint64_t window) noexcept
{
  return address - window < k_window_size;
}

/// Constant variables are the only read-only regions, except for memory of the host.
bool is_constant(warp const& w, std::uint64_t address)
{
  auto const* const region = find_region(*w.launch().regions, address, 1);
  return region != nullptr && region->read_only && !region->is_mapped;
}

/// Global are all addresses that are in none of the windows of the constant, local and shared
/// spaces; the window of the kernel's parameters is within the global space.
bool is_in(warp const& w, std::uint64_t address, space space)
{
  switch (space) {
    case space::shared:
      return in_window(address, k_shared_window);
    case space::local:
      return in_window(address, k_local_window);
    case space::param:
      return in_window(address, k_parameter_window);
    case space::constant:
      return is_constant(w, address);
    case space::global:
    case space::generic:
      break;
  }
  return !in_window(address, k_shared_window) && !in_window(address, k_local_window) &&
         !is_constant(w, address);
}

/// In flags: shared memory of other blocks of the cluster is not in the space.
constexpr std::uint32_t k_own_block = 0x100;

/// Whether an address of shared memory is one of the block itself.
bool is_of_block(warp const& w, std::uint64_t address)
{
  auto const rank = (address - k_shared_window) >> k_rank_at;
  return rank == 0 || rank == w.block().rank() + 1;
}

template <typename T>
void test_space(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const space = static_cast<ptx::space>(o.flags & ~k_own_block);
  lane_mask bits = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto const address = std::uint64_t{load<T>(a, i)};
    auto const is_elsewhere = (o.flags & k_own_block) != 0 && !is_of_block(w, address);
    if (!is_elsewhere && is_in(w, address, space)) bits |= 1U << i;
  }
  w.set_predicate(o.d, bits, mask);
}

void decode_test(decoding& d)
{
  auto const word = d.take_next();
  auto const space = ptx::parse_space(word);
  if (!space || word == "param::func") d.fail_unsupported("not a state space of generic addresses");
  d.expect_count(2, 2);
  auto const is_wide = d.width_of(d.operand(1)) != 4;
  auto const a = d.source(1, is_wide ? type::u64 : type::u32);
  auto const result = d.predicate_destination(d.operand(0));
  auto& o = d.emit(is_wide ? &test_space<std::uint64_t> : &test_space<std::uint32_t>);
  o.d = result;
  o.a = a;
  o.flags = static_cast<std::uint32_t>(*space) |
            (*space == space::shared && word != "shared::cluster" ? k_own_block : 0U);
}

// mapa and getctarank: addresses of the shared memory of a cluster's blocks.

/// a: an address in shared memory; b: the rank of a block.
template <typename T>
void map_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const address = address_in_cluster(load<T>(a, i), load<std::uint32_t>(b, i));
    store(d, i, static_cast<T>(address));
  });
}

template <typename T>
void rank_of_address(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const own = w.block().rank();
  each_lane(mask, [=](unsigned i) {
    auto const offset = static_cast<std::uint32_t>(load<T>(a, i));
    auto const rank = offset >> k_rank_at;
    store(d, i, rank == 0 ? own : rank - 1);
  });
}

type take_address_type(decoding& d)
{
  auto const type = d.take_type();
  auto const space = take_space(d);
  auto const is_known = space == space::shared ? type == type::u32 || type == type::u64
                                               : space == space::generic && type == type::u64;
  if (!is_known) d.fail_unsupported("not a supported type");
  return type;
}

void decode_mapa(decoding& d)
{
  auto const type = take_address_type(d);
  d.expect_count(3, 3);
  auto const a = d.source(1, type);
  auto const b = d.source(2, type::u32);
  auto const result = d.destination(0, type);
  auto& o = d.emit(type == type::u32 ? &map_address<std::uint32_t> : &map_address<std::uint64_t>);
  o.d = result;
  o.a = a;
  o.b = b;
}

void decode_rank(decoding& d)
{
  auto const type = take_address_type(d);
  d.expect_count(2, 2);
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type::u32);
  auto& o =
      d.emit(type == type::u32 ? &rank_of_address<std::uint32_t> : &rank_of_address<std::uint64_t>);
  o.d = result;
  o.a = a;
}

// alloca, stacksave and stackrestore.

/// a: the bytes; immediate: the alignment.
template <typename T>
void allocate(warp& w, operation const& o, lane_mask mask)
{
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const bytes = load<T>(w.at(o.a), lane);
    auto const offset = w.stacks.allocate(lane, w.current().depth, bytes, o.immediate);
    if (!offset)
      w.fail(error_kind::address,
             "allocates " + std::to_string(bytes) + " bytes: the thread's stack is full", lane, o);
    store(w.at(o.d), lane, static_cast<T>(k_local_window + *offset));
  }
}

template <typename T>
void save(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [&](unsigned i) { store(d, i, static_cast<T>(w.stacks.top(i))); });
}

template <typename T>
void restore(warp& w, operation const& o, lane_mask mask)
{
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    if (!w.stacks.restore(lane, load<T>(w.at(o.a), lane)))
      w.fail(error_kind::address, "restores what is not a result of stacksave", lane, o);
  }
}

type take_width(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::u32 && type != type::u64) d.fail_unsupported("not a supported type");
  return type;
}

void decode_alloca(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(2, 3);
  auto const alignment = d.count() == 3 ? d.integer(2) : 8;
  if (!std::has_single_bit(alignment)) d.reject("the alignment is not a power of two");
  auto const a = d.source(1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(type == type::u32 ? &allocate<std::uint32_t> : &allocate<std::uint64_t>);
  o.d = result;
  o.a = a;
  o.immediate = alignment;
}

void decode_save(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(1, 1);
  auto const result = d.destination(0, type);
  d.emit(type == type::u32 ? &save<std::uint32_t> : &save<std::uint64_t>).d = result;
}

void decode_restore(decoding& d)
{
  auto const type = take_width(d);
  d.expect_count(1, 1);
  auto const a = d.source(0, type);
  d.emit(type == type::u32 ? &restore<std::uint32_t> : &restore<std::uint64_t>).a = a;
}

}  // namespace

void add_addresses(decode_table& table)
{
  table["cvta"] = &decode_cvta;
  table["isspacep"] = &decode_test;
  table["mapa"] = &decode_mapa;
  table["getctarank"] = &decode_rank;
  table["alloca"] = &decode_alloca;
  table["stacksave"] = &decode_save;
  table["stackrestore"] = &decode_restore;
}

}  // namespace fatlink::interpreter
