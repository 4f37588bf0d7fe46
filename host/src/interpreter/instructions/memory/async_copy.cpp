// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies: cp.async and its groups, cp.async.bulk, cp.reduce.async.bulk, st.async and
// red.async. Source: PTX ISA 9.0, "cp.async", "cp.async.bulk", "cp.reduce.async.bulk", "st.async",
// "red.async".
#include <array>
#include <bit>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/atomic.hpp"
#include "interpreter/instructions/memory/mbarrier.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

// st.async and red.async: stores to shared memory that an mbarrier counts. They are complete at
// once.

/// a: the address; b: the mbarrier; d: the list of sources; flags: their number; immediate: the
/// bytes of each.
template <typename T>
void store_async(warp& w, operation const& o, lane_mask mask)
{
  auto const* const list = w.current().code->lists.data() + o.d;
  auto const size = static_cast<unsigned>(sizeof(T)) * o.flags;
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto* const target = w.resolve(load<std::uint64_t>(w.at(o.a), lane), size, lane, o, true);
    if (w.checks_accesses()) w.record_write(target, size, lane, o);
    for (unsigned k = 0; k < o.flags; ++k) store(target, k, load<T>(w.at(list[k]), lane));
    mbarrier_object(w, o, lane, load<std::uint64_t>(w.at(o.b), lane)).complete_bytes(size);
  }
}

/// a: the address; b: the mbarrier; c: the operand.
template <typename T, typename Op, typename SharedOp>
void reduce_async(warp& w, operation const& o, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto* const element = w.resolve(load<std::uint64_t>(w.at(o.a), lane), sizeof(T), lane, o, true);
    (void)update<T, SharedOp>(element, load<T>(w.at(o.c), lane), T{});
    mbarrier_object(w, o, lane, load<std::uint64_t>(w.at(o.b), lane)).complete_bytes(sizeof(T));
  }
}

template <typename T, typename Op, typename SharedOp>
struct async_reduction_of {
  static constexpr handler run = &reduce_async<T, Op, SharedOp>;
};

void check_clusters(warp& w, operation const& o, lane_mask mask)
{
  if (!w.launch().is_explicit_cluster)
    w.fail(
        error_kind::launch,
        "in a grid without clusters (__cluster_dims__), where a GPU reports an illegal instruction",
        static_cast<unsigned>(std::countr_zero(mask)), o);
}

/// Takes what both instructions state: shared memory, and an mbarrier that counts bytes.
void take_target(decoding& d)
{
  (void)d.take("weak");
  (void)take_order(d);
  take_scope(d);
  if (!d.take("mbarrier::complete_tx::bytes") || take_space(d) != space::shared)
    d.fail_unsupported("not a store to shared memory that an mbarrier counts");
}

/// Emits a check that the grid has clusters: without them an H100 reports an illegal instruction
/// where shared memory of a cluster is written asynchronously.
void emit_cluster_check(decoding& d)
{
  d.emit(&check_clusters);
}

}  // namespace

void decode_async_store(decoding& d)
{
  auto const type = d.take_type();
  if (size_of(type) != 4 && size_of(type) != 8) d.fail_unsupported("not a supported type");
  take_target(d);
  auto const count = d.take("v2") ? 2U : d.take("v4") ? 4U : 1U;
  d.expect_count(3, 3);
  auto const parts = elements_of(d.operand(1));
  if (parts.size() != count) d.reject("the vector has another length");
  std::vector<operand_offset> sources;
  for (auto const& part : parts) sources.push_back(d.source(part, type));
  auto const address = emit_generic_address(d, d.operand(0), space::shared);
  auto const mbarrier = emit_generic_address(d, d.operand(2), space::shared);
  auto const list = d.add_list(sources);
  emit_cluster_check(d);
  auto& o = d.emit(size_of(type) == 4 ? &store_async<std::uint32_t> : &store_async<std::uint64_t>);
  o.a = address;
  o.b = mbarrier;
  o.d = list;
  o.flags = count;
}

void decode_async_reduction(decoding& d)
{
  auto const type = d.take_type();
  take_target(d);
  d.expect_count(3, 3);
  auto const name = d.take_next();
  if (name == "exch" || name == "cas" || is_float(type)) d.fail_unsupported();
  auto const run = update_choice<async_reduction_of>::pick(d, name, type, space::shared);
  auto const operand = d.source(1, type);
  auto const address = emit_generic_address(d, d.operand(0), space::shared);
  auto const mbarrier = emit_generic_address(d, d.operand(2), space::shared);
  emit_cluster_check(d);
  auto& o = d.emit(run);
  o.a = address;
  o.b = mbarrier;
  o.c = operand;
}

namespace {

// cp.async.bulk, its groups and prefetches; cp.reduce.async.bulk. They are complete at once: the
// mbarrier counts their bytes, and waits for groups return at once. Each reduction of an element is
// atomic.

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
          error_kind::address,
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
    d.fail_unsupported("not a known form of a bulk copy");
  return shape;
}

void decode_prefetch(decoding& d)
{
  (void)d.take("L2");
  if (take_space(d) != space::global) d.fail_unsupported();
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

/// cp.async.bulk and cp.reduce.async.bulk; "async" and "bulk" are taken.
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
    d.fail_unsupported(".multicast::cluster is valid only for copies from global to shared memory");
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
  if ((shape.flags & k_is_multicast) != 0)
    d.fail_unsupported("a reduction has no .multicast::cluster");
  auto const policy = take_cache_policy(d);
  take_no_flush(d, type);
  auto const operands = 3 + ((shape.flags & k_has_mbarrier) != 0 ? 1U : 0U) + policy;
  d.expect_count(operands, operands);
  auto const name = d.take_next();
  if (name == "exch" || name == "cas") d.fail_unsupported();
  (void)emit_bulk(d, update_choice<reduction_of>::pick(d, name, type, shape.target), shape);
}

// cp.async and its groups; the other forms of cp.

/// The source of `available` bytes of an aligned access of `size` bytes; null: nothing is read, so
/// that it may be anywhere.
std::byte const* source_of(warp& w, operation const& o, unsigned lane, unsigned size,
                           unsigned available)
{
  auto const address = load<std::uint64_t>(w.at(o.a), lane);
  if (available == 0) return nullptr;
  if (address - k_local_window < k_window_size)  // it may be gone when the copy takes place
    w.fail(error_kind::address, "the source is in local memory, not in global memory", lane, o);
  if (available == size || address % size != 0) return w.resolve(address, size, lane, o, false);
  (void)w.resolve(address + available - 1, 1, lane, o, false);
  return w.resolve(address, 1, lane, o, false);
}

/// a: the source; b: the target; c: bytes that exist, the others are zero; e: a predicate, to
/// ignore the source; immediate: bytes that are written.
void add_copy(warp& w, operation const& o, lane_mask mask)
{
  auto const size = static_cast<unsigned>(o.immediate);
  auto const ignored = w.predicate(o.e);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const available = (ignored >> lane & 1) != 0 ? 0 : load<std::uint32_t>(w.at(o.c), lane);
    if (available > size)
      w.fail(error_kind::address,
             "the source has " + std::to_string(available) + " bytes, more than the " +
                 std::to_string(size) + " that are copied",
             lane, o);
    auto const address = load<std::uint64_t>(w.at(o.b), lane);
    auto* const target = w.resolve_shared(address - k_shared_window, size, lane, o, true);
    if (w.checks_accesses()) w.record_write(target, size, lane, o);
    auto const* const source = source_of(w, o, lane, size, available);
    if (w.checks_accesses() && available != 0) w.record_read(source, available, lane, o);
    w.copies.add(lane, {target, source == nullptr ? target : source,
                        static_cast<std::uint8_t>(size), static_cast<std::uint8_t>(available)});
  }
}

void commit(warp& w, operation const&, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1)
    w.copies.commit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// immediate: the groups that need not be complete.
void wait_groups(warp& w, operation const& o, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1)
    w.copies.complete(static_cast<unsigned>(std::countr_zero(mask)), o.immediate);
}

void wait_all(warp& w, operation const&, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1)
    w.copies.complete_all(static_cast<unsigned>(std::countr_zero(mask)));
}

/// a: the mbarrier; flags: 1 with .noinc. The copies of the thread are complete then.
void arrive_after_copies(warp& w, operation const& o, lane_mask mask)
{
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    w.copies.complete_all(lane);
    mbarrier_object mbarrier(w, o, lane, load<std::uint64_t>(w.at(o.a), lane));
    if (o.flags == 0) mbarrier.add_pending();
    (void)mbarrier.arrive(1);
  }
}

/// The size of the source in bytes, or a predicate that it is ignored.
struct source_size {
  operand_offset available = k_no_operand;
  std::uint32_t ignored = k_false;
};

source_size take_source_size(decoding& d, std::uint64_t size, std::size_t end)
{
  auto const all = d.constant(size, 4);
  if (end == 3) return {all, k_false};
  auto const& operand = d.operand(3);
  auto const is_predicate =
      d.is_register(operand) && d.function().registers[operand.index].type == type::pred;
  if (is_predicate) return {all, d.predicate(operand)};
  return {d.source(operand, type::u32), k_false};
}

void decode_copy(decoding& d)
{
  auto const is_cached = d.take("ca");
  if (!is_cached && !d.take("cg")) d.fail_unsupported();
  (void)take_cache_hints(d);
  auto const policy = take_cache_policy(d);
  if (take_space(d) != space::shared || take_space(d) != space::global)
    d.fail_unsupported("not from global to shared memory");
  d.expect_count(3 + policy, 4 + policy);
  auto const size = d.integer(2);
  if (size != 16 && (!is_cached || (size != 4 && size != 8)))
    d.reject("the size is not 4, 8 or 16; .cg copies 16 bytes");
  auto const size_of_source = take_source_size(d, size, d.count() - policy);
  auto const target = emit_generic_address(d, d.operand(0), space::shared);
  auto const source = emit_generic_address(d, d.operand(1), space::global);
  auto& o = d.emit(&add_copy);
  o.a = source;
  o.b = target;
  o.c = size_of_source.available;
  o.e = size_of_source.ignored;
  o.immediate = size;
}

/// cp.async.mbarrier.arrive; "async" and "mbarrier" are taken.
void decode_copy_arrival(decoding& d)
{
  if (d.take_type() != type::b64 || !d.take("arrive")) d.fail_unsupported();
  auto const is_noinc = d.take("noinc");
  auto const space = take_space(d);
  d.expect_count(1, 1);
  auto const address = emit_generic_address(d, d.operand(0), space);
  auto& o = d.emit(&arrive_after_copies);
  o.a = address;
  o.flags = is_noinc ? 1 : 0;
}

}  // namespace

void decode_async(decoding& d)
{
  if (d.take("bulk")) return decode_bulk_copy(d);
  if (d.take("mbarrier")) return decode_copy_arrival(d);
  if (d.take("commit_group")) {
    d.expect_count(0, 0);
    d.emit(&commit);
  } else if (d.take("wait_group")) {
    d.expect_count(1, 1);
    auto const count = d.integer(0);
    d.emit(&wait_groups).immediate = count;
  } else if (d.take("wait_all")) {
    d.expect_count(0, 0);
    d.emit(&wait_all);
  } else {
    decode_copy(d);
  }
}

void decode_cp(decoding& d)
{
  auto const is_reduction = d.take("reduce");
  if (!d.take("async")) d.fail_unsupported();
  if (!is_reduction) return decode_async(d);
  if (!d.take("bulk")) d.fail_unsupported();
  decode_bulk_reduction(d);
}

void add_copies(decode_table& table)
{
  table["cp"] = &decode_cp;
}

}  // namespace fatlink::interpreter
