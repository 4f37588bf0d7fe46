// SPDX-License-Identifier: Apache-2.0
// Barriers, of the block, the cluster and the warp, and fences. Source: PTX ISA 9.0, "bar",
// "bar.warp.sync", "barrier.cluster", "membar".
#include <atomic>
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/collective.hpp"

namespace fatlink::interpreter {
namespace {

/// a: the barrier; b: the number of threads, 0 for all; c: the predicate of bar.red.
void bar(warp& w, operation const& o, lane_mask mask)
{
  auto const lane = first_lane(mask);
  auto const number = load<std::uint32_t>(w.at(o.a), lane);
  if (number >= k_barriers)
    w.fail(error_kind::deadlock,
           "barrier " + std::to_string(number) + " does not exist; barriers are 0 to 15", lane, o);
  w.release_accesses(sync_scope::block);
  auto& barrier = w.block().barrier_at(number);
  auto const count = static_cast<std::uint32_t>(std::popcount(mask));
  barrier.arrived += count;
  barrier.expected = load<std::uint32_t>(w.at(o.b), lane);
  barrier.voters += count;
  barrier.population += static_cast<std::uint32_t>(std::popcount(mask & w.predicate(o.c)));
  auto const action = static_cast<barrier_action>(o.flags);
  if (action != barrier_action::arrive) w.wait_at(number, o, mask, action != barrier_action::sync);
}

void bar_warp(warp& w, operation const& o, lane_mask mask)
{
  if (meet(w, o, o.a, mask)) w.record_warp_sync();
}

/// The barrier of the cluster, whose halves are instructions of their own.
void arrive_at_cluster(warp& w, operation const& o, lane_mask mask)
{
  if (auto const again = mask & w.cluster_arrivals; again != 0)
    w.fail(error_kind::deadlock, "arrives again without barrier.cluster.wait", first_lane(again),
           o);
  w.release_accesses();
  w.cluster_arrivals |= mask;
}

void wait_for_cluster(warp& w, operation const& o, lane_mask mask)
{
  auto const waiting = mask & w.cluster_arrivals;  // of others the phase is complete
  if (waiting != 0) w.wait_at(k_cluster_barrier, o, waiting, false);
}

void decode_cluster_barrier(decoding& d)
{
  for (auto const* word : {"aligned", "acquire", "release", "relaxed"}) (void)d.take(word);
  auto const arrives = d.take("arrive");
  if (!arrives && !d.take("wait")) d.fail_unsupported();
  d.expect_count(0, 0);
  d.emit(arrives ? &arrive_at_cluster : &wait_for_cluster);
}

/// Operand `number_index` is the barrier; the number of threads and the predicate may follow.
void emit_barrier(decoding& d, barrier_action action, operand_offset result,
                  std::size_t number_index, bool has_predicate)
{
  auto const end = d.count() - (has_predicate ? 1 : 0);
  if (end <= number_index || end > number_index + 2)
    d.fail_unsupported("too many or too few operands");
  auto const has_threads = end == number_index + 2;
  auto const number = d.source(number_index, type::u32);
  auto const threads = has_threads ? d.source(number_index + 1, type::u32) : d.constant(0, 4);
  auto const predicate = has_predicate ? d.predicate(d.count() - 1) : k_false;
  auto& o = d.emit(&bar);
  o.d = result;
  o.a = number;
  o.b = threads;
  o.c = predicate;
  o.flags = static_cast<std::uint32_t>(action);
}

void decode_reduction(decoding& d)
{
  if (d.take("popc")) {
    auto const type = d.take_type();
    if (type != type::u32) d.fail_unsupported();
    return emit_barrier(d, barrier_action::population, d.destination(0, type), 1, true);
  }
  auto const is_and = d.take("and");
  if (!is_and && !d.take("or")) d.fail_unsupported();
  if (d.take_type() != type::pred) d.fail_unsupported();
  emit_barrier(d, is_and ? barrier_action::conjunction : barrier_action::disjunction,
               d.predicate_destination(d.operand(0)), 1, true);
}

/// bar and barrier. `.aligned` only guides the compiler.
void decode_bar(decoding& d)
{
  if (d.take("cluster")) return decode_cluster_barrier(d);
  (void)d.take("cta");
  (void)d.take("aligned");
  if (d.take("warp")) {
    if (!d.take("sync")) d.fail_unsupported();
    d.expect_count(1, 1);
    auto const members = d.source(0, type::b32);
    auto& o = d.emit(&bar_warp);
    o.a = members;
    o.flags = flags_of({.source_bytes = 4, .members_in_a = true}, 0);
    return;
  }
  if (d.take("red")) return decode_reduction(d);
  if (d.take("arrive")) return emit_barrier(d, barrier_action::arrive, k_no_operand, 0, false);
  if (!d.take("sync")) d.fail_unsupported();
  emit_barrier(d, barrier_action::sync, k_no_operand, 0, false);
}

// membar and fence.

/// All fences modify one atomic variable, which orders the accesses before it in one thread and
/// after it in another. The thread sanitizer understands that, but not a fence of the host.
/// flags: 1 of a fence that other blocks need not see.
void fence(warp& w, operation const& o, lane_mask)
{
  auto const scope = o.flags == 1 ? sync_scope::block : sync_scope::device;
  w.release_accesses(scope);
  static std::atomic<unsigned> meeting_point = 0;
  meeting_point.fetch_add(1, std::memory_order_seq_cst);
  // On x86-64 that is a fence of all accesses as well; on AArch64 later ones may come before it.
  if constexpr (!k_is_x86_64) std::atomic_thread_fence(std::memory_order_seq_cst);
  w.acquire_accesses(scope);
}

/// Every fence is treated as the strongest kind, of all proxies and scopes.
void decode_fence(decoding& d)
{
  (void)d.take("proxy");
  auto const acquires_tensormap = d.take("tensormap::generic") && d.take("acquire");
  for (auto const* word :
       {"sc", "acq_rel", "acquire", "release", "mbarrier_init", "gl", "sys", "gpu", "cluster",
        "alias", "async", "global", "shared::cta", "shared::cluster", "async::generic",
        "sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
    (void)d.take(word);
  auto const is_of_block = d.take("cta");
  auto const operands = acquires_tensormap ? 2U : 0U;  // an address and its size
  d.expect_count(operands, operands);
  d.emit(&fence).flags = is_of_block ? 1 : 0;
}

}  // namespace

void add_barrier(decode_table& table)
{
  table["bar"] = &decode_bar;
  table["barrier"] = &decode_bar;
  table["membar"] = &decode_fence;
  table["fence"] = &decode_fence;
}

}  // namespace fatlink::interpreter
