// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups; the other forms of cp. Source: PTX ISA 9.0, "cp.async".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/async/async_families.hpp"
#include "interpreter/instructions/async/mbarrier_object.hpp"
#include "interpreter/instructions/memory/cache_hints.hpp"
#include "interpreter/instructions/memory/generic_address.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// The source of `available` bytes of an aligned access of `size` bytes; null: nothing is read, so
/// that it may be anywhere.
std::byte const* source_of(warp& w, operation const& o, unsigned lane, unsigned size,
                           unsigned available)
{
  auto const address = load<std::uint64_t>(w.at(o.a), lane);
  if (available == 0) return nullptr;
  if (address - k_local_window < k_window_size)  // it may be gone when the copy takes place
    w.fail(fault::address, "the source is in local memory, not in global memory", lane, o);
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
      w.fail(fault::address,
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
  if (!is_cached && !d.take("cg")) d.refuse();
  (void)take_cache_hints(d);
  auto const policy = take_cache_policy(d);
  if (take_space(d) != space::shared || take_space(d) != space::global)
    d.refuse("not from global to shared memory");
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
  if (!d.take("async")) d.refuse();
  if (!is_reduction) return decode_async(d);
  if (!d.take("bulk")) d.refuse();
  decode_bulk_reduction(d);
}

}  // namespace

void decode_copy_arrival(decoding& d)
{
  if (d.take_type() != type::b64 || !d.take("arrive")) d.refuse();
  auto const is_noinc = d.take("noinc");
  auto const space = take_space(d);
  d.expect_count(1, 1);
  auto const address = emit_generic_address(d, d.operand(0), space);
  auto& o = d.emit(&arrive_after_copies);
  o.a = address;
  o.flags = is_noinc ? 1 : 0;
}

void add_copies(decode_table& table)
{
  table["cp"] = &decode_cp;
}

}  // namespace fatlink::interpreter
