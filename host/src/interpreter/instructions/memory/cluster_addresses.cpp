// SPDX-License-Identifier: Apache-2.0
// mapa and getctarank: addresses of the shared memory of a cluster's blocks. Source: PTX ISA 9.0,
// "mapa", "getctarank".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

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
  if (!is_known) d.refuse("not a supported type");
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

}  // namespace

void add_cluster_addresses(decode_table& table)
{
  table["mapa"] = &decode_mapa;
  table["getctarank"] = &decode_rank;
}

}  // namespace fatlink::interpreter
