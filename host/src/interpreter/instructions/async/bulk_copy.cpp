// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, its groups and prefetches; cp.reduce.async.bulk. They are complete at once: the
// mbarrier counts their bytes, and waits for groups return at once. Each reduction of an element is
// atomic. Source: PTX ISA 9.0, "cp.async.bulk", "cp.reduce.async.bulk".
#include <algorithm>
#include <array>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/async/async_families.hpp"
#include "interpreter/instructions/async/mbarrier_object.hpp"
#include "interpreter/instructions/control/no_effect.hpp"
#include "interpreter/instructions/memory/atomic_ops.hpp"
#include "interpreter/instructions/memory/cache_hints.hpp"
#include "interpreter/instructions/memory/generic_address.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

constexpr unsigned k_unit = 16;  // bytes: of sizes and alignments

/// flags of a bulk operation.
enum bulk_flags : std::uint32_t { k_has_mbarrier = 1, k_is_multicast = 2 };

struct bulk_addresses {
  std::uint64_t target = 0;
  std::uint64_t source = 0;
  std::uint64_t mbarrier = 0;
};

/// Calls use(lane, addresses, bytes) for each lane. a: the source; b: the target; c: bytes; e: the
/// mbarrier.
template <typename Use>
void each_bulk(warp& w, operation const& o, lane_mask mask, Use const& use)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto const size = load<std::uint32_t>(w.at(o.c), lane);
    if (size % k_unit != 0)
      w.fail(
          fault::address,
          "copies " + std::to_string(size) + " bytes: not a multiple of " + std::to_string(k_unit),
          lane, o);
    bulk_addresses addresses{load<std::uint64_t>(w.at(o.b), lane),
                             load<std::uint64_t>(w.at(o.a), lane)};
    if ((o.flags & k_has_mbarrier) != 0) addresses.mbarrier = load<std::uint64_t>(w.at(o.e), lane);
    use(lane, addresses, size);
  }
}

void copy_units(warp& w, operation const& o, unsigned lane, bulk_addresses const& addresses,
                std::uint32_t size)
{
  for (std::uint32_t offset = 0; offset < size; offset += k_unit) {
    auto const* const source = w.resolve(addresses.source + offset, k_unit, lane, o, false);
    if (w.checks_accesses()) w.record_read(source, k_unit, lane, o);
    std::array<std::byte, k_unit> unit;
    std::memcpy(unit.data(), source, k_unit);
    auto* const target = w.resolve(addresses.target + offset, k_unit, lane, o, true);
    if (w.checks_accesses()) w.record_write(target, k_unit, lane, o);
    std::memcpy(target, unit.data(), k_unit);
  }
}

void copy_bulk(warp& w, operation const& o, lane_mask mask)
{
  each_bulk(w, o, mask, [&](unsigned lane, bulk_addresses const& addresses, std::uint32_t size) {
    copy_units(w, o, lane, addresses, size);
    if ((o.flags & k_has_mbarrier) != 0)
      mbarrier_object(w, o, lane, addresses.mbarrier).complete_bytes(size);
  });
}

/// d: the mask of the cluster's blocks that receive the data, at the same place of each.
void copy_to_many(warp& w, operation const& o, lane_mask mask)
{
  each_bulk(w, o, mask, [&](unsigned lane, bulk_addresses const& addresses, std::uint32_t size) {
    std::uint32_t blocks = load<std::uint16_t>(w.at(o.d), lane);
    for (; blocks != 0; blocks &= blocks - 1) {
      auto const rank = static_cast<unsigned>(std::countr_zero(blocks));
      auto in_block = addresses;
      in_block.target = address_in_cluster(addresses.target, rank);
      in_block.mbarrier = address_in_cluster(addresses.mbarrier, rank);
      copy_units(w, o, lane, in_block, size);
      mbarrier_object(w, o, lane, in_block.mbarrier).complete_bytes(size);
    }
  });
}

template <typename T, typename Op, typename SharedOp>
void reduce(warp& w, operation const& o, lane_mask mask)
{
  each_bulk(w, o, mask, [&](unsigned lane, bulk_addresses const& addresses, std::uint32_t size) {
    for (std::uint32_t offset = 0; offset < size; offset += sizeof(T)) {
      T operand;
      auto const* const source = w.resolve(addresses.source + offset, sizeof(T), lane, o, false);
      if (w.checks_accesses()) w.record_read(source, sizeof(T), lane, o);
      std::memcpy(&operand, source, sizeof(T));
      auto* const element = w.resolve(addresses.target + offset, sizeof(T), lane, o, true);
      (void)update<T, Op>(element, operand, T{});
    }
    if ((o.flags & k_has_mbarrier) != 0)
      mbarrier_object(w, o, lane, addresses.mbarrier).complete_bytes(size);
  });
}

template <typename T, typename Op, typename SharedOp>
struct reduction_of {
  static constexpr handler run = &reduce<T, Op, SharedOp>;
};

struct bulk_shape {
  space target = space::global;
  space source = space::shared;
  std::uint32_t flags = 0;
};

/// Emits a bulk operation: [to], [from], size, and [mbarrier] with `.mbarrier::complete_tx::bytes`.
operation& emit_bulk(decoding& d, handler run, bulk_shape const& shape)
{
  auto const size = d.source(2, type::u32);
  auto const target = emit_generic_address(d, d.operand(0), shape.target);
  auto const source = emit_generic_address(d, d.operand(1), shape.source);
  auto const mbarrier = (shape.flags & k_has_mbarrier) != 0
                            ? emit_generic_address(d, d.operand(3), space::shared)
                            : k_no_operand;
  if (shape.target == space::shared && shape.source == space::shared) emit_cluster_check(d);
  auto& o = d.emit(run);
  o.a = source;
  o.b = target;
  o.c = size;
  o.e = mbarrier;
  o.flags = shape.flags;
  return o;
}

bulk_shape take_bulk_shape(decoding& d)
{
  bulk_shape shape;
  shape.target = take_space(d);
  shape.source = take_space(d);
  if (d.take("mbarrier::complete_tx::bytes")) shape.flags |= k_has_mbarrier;
  if (d.take("multicast::cluster")) shape.flags |= k_is_multicast;
  auto const is_group = d.take("bulk_group");
  auto const is_to_shared = shape.target == space::shared;
  auto const has_mbarrier = (shape.flags & k_has_mbarrier) != 0;
  auto const is_known = is_to_shared
                            ? shape.source == space::global || shape.source == space::shared
                            : shape.target == space::global && shape.source == space::shared;
  // An mbarrier or a group of bulk operations tells that it is complete.
  if (!is_known || has_mbarrier != is_to_shared || is_group == is_to_shared)
    d.refuse("not a known form of a bulk copy");
  return shape;
}

void decode_prefetch(decoding& d)
{
  (void)d.take("L2");
  if (take_space(d) != space::global) d.refuse();
  auto const policy = take_cache_policy(d);
  d.expect_count(2 + policy, 2 + policy);
  (void)emit_generic_address(d, d.operand(0), space::global);
  (void)d.source(1, type::u32);
  d.emit(&do_nothing);
}

void decode_group(decoding& d, unsigned operands)
{
  (void)d.take("read");
  d.expect_count(operands, operands);
  if (operands == 1) (void)d.integer(0);
  d.emit(&do_nothing);
}

}  // namespace

void decode_bulk_copy(decoding& d)
{
  if (d.take("tensor")) d.refuse_feature("tensor maps (TMA)");
  if (d.take("commit_group")) return decode_group(d, 0);
  if (d.take("wait_group")) return decode_group(d, 1);
  if (d.take("prefetch")) {
    if (d.take("tensor")) d.refuse_feature("tensor maps (TMA)");
    return decode_prefetch(d);
  }
  auto const shape = take_bulk_shape(d);
  auto const policy = take_cache_policy(d);
  auto const is_multicast = (shape.flags & k_is_multicast) != 0;
  if (is_multicast && shape.source != space::global)
    d.refuse(".multicast::cluster is of copies from global memory to shared memory");
  auto const operands =
      3 + ((shape.flags & k_has_mbarrier) != 0 ? 1U : 0U) + (is_multicast ? 1U : 0U) + policy;
  d.expect_count(operands, operands);
  auto const blocks = is_multicast ? d.source(4, type::b16) : k_no_operand;
  auto& o = emit_bulk(d, is_multicast ? &copy_to_many : &copy_bulk, shape);
  o.d = blocks;
}

void decode_bulk_reduction(decoding& d)
{
  if (d.take("tensor")) d.refuse_feature("tensor maps (TMA)");
  auto const type = d.take_type();
  auto const shape = take_bulk_shape(d);
  if ((shape.flags & k_is_multicast) != 0) d.refuse("a reduction has no .multicast::cluster");
  auto const policy = take_cache_policy(d);
  take_no_flush(d, type);
  auto const operands = 3 + ((shape.flags & k_has_mbarrier) != 0 ? 1U : 0U) + policy;
  d.expect_count(operands, operands);
  auto const name = d.take_next();
  if (name == "exch" || name == "cas") d.refuse();
  (void)emit_bulk(d, update_choice<reduction_of>::pick(d, name, type, shape.target), shape);
}

}  // namespace fatlink::interpreter
