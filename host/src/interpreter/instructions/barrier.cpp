// SPDX-License-Identifier: Apache-2.0
// Barriers, of the block and of the warp. Source: PTX ISA 9.0, "bar", "bar.warp.sync".
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/collective.hpp"

namespace fatlink::interpreter {
namespace {

/// a: the barrier, b: how many threads (0: all), c: the predicate of bar.red.
void bar(warp& w, operation const& o, lane_mask mask)
{
  auto const lane = first_lane(mask);
  auto const number = load<std::uint32_t>(w.at(o.a), lane);
  if (number >= k_barriers)
    w.fail(fault::deadlock, "barrier " + std::to_string(number) + " of 0 to 15", lane, o);
  auto& at = w.block().barrier_at(number);
  auto const count = static_cast<std::uint32_t>(std::popcount(mask));
  at.arrived += count;
  at.expected = load<std::uint32_t>(w.at(o.b), lane);
  at.voters += count;
  at.population += static_cast<std::uint32_t>(std::popcount(mask & w.predicate(o.c)));
  auto const action = static_cast<barrier_action>(o.flags);
  if (action != barrier_action::arrive) w.wait_at(number, o, mask, action != barrier_action::sync);
}

void bar_warp(warp& w, operation const& o, lane_mask mask)
{
  if (meet(w, o, o.a, mask)) w.note_warp_sync();
}

void emit_barrier(decoding& d, barrier_action action, operand_offset to, std::size_t first,
                  bool has_predicate)
{
  auto const last = d.count() - (has_predicate ? 1 : 0);
  if (last <= first || last > first + 2) d.refuse("too many or too few operands");
  auto const number = d.source(first, type::u32);
  auto const threads = last == first + 2 ? d.source(first + 1, type::u32) : d.constant(0, 4);
  auto const vote = has_predicate ? d.predicate(d.count() - 1) : k_false;
  auto& o = d.emit(&bar);
  o.d = to;
  o.a = number;
  o.b = threads;
  o.c = vote;
  o.flags = static_cast<std::uint32_t>(action);
}

void decode_reduction(decoding& d)
{
  if (d.take("popc")) {
    auto const as = d.take_type();
    if (as != type::u32) d.refuse();
    return emit_barrier(d, barrier_action::population, d.destination(0, as), 1, true);
  }
  auto const all = d.take("and");
  if (!all && !d.take("or")) d.refuse();
  if (d.take_type() != type::pred) d.refuse();
  emit_barrier(d, all ? barrier_action::conjunction : barrier_action::disjunction,
               d.predicate_destination(d.operand(0)), 1, true);
}

/// bar and barrier; `.aligned` promises what is checked anyway.
void decode_bar(decoding& d)
{
  (void)d.take("cta");
  (void)d.take("aligned");
  if (d.take("warp")) {
    if (!d.take("sync")) d.refuse();
    d.expect_count(1, 1);
    auto const members = d.source(0, type::b32);
    d.emit(&bar_warp).a = members;
    return;
  }
  if (d.take("red")) return decode_reduction(d);
  if (d.take("arrive")) return emit_barrier(d, barrier_action::arrive, k_no_operand, 0, false);
  if (!d.take("sync")) d.refuse();
  emit_barrier(d, barrier_action::sync, k_no_operand, 0, false);
}

}  // namespace

void add_barrier(decode_table& to)
{
  to["bar"] = &decode_bar;
  to["barrier"] = &decode_bar;
}

}  // namespace fatlink::interpreter
