// SPDX-License-Identifier: Apache-2.0
// Branches, returns and the end of a thread. Source: PTX ISA 9.0, "Control Flow
// Instructions".
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

void branch(warp& w, operation const& o, lane_mask mask)
{
  w.branch(mask, static_cast<std::uint32_t>(o.immediate));
}

/// Lanes with the same index branch together. An index beyond the table is undefined in PTX; here
/// it is an error.
void branch_indexed(warp& w, operation const& o, lane_mask mask)
{
  auto const& table = w.current().code->branch_tables[o.immediate];
  auto const* const a = w.at(o.a);
  while (mask != 0) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    auto const index = load<std::uint32_t>(a, lane);
    if (index >= table.size())
      w.fail(error_kind::address,
             "branches to entry " + std::to_string(index) + " of a table of " +
                 std::to_string(table.size()),
             lane, o);
    lane_mask matching = 0;
    for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
      auto const candidate = static_cast<unsigned>(std::countr_zero(remaining));
      if (load<std::uint32_t>(a, candidate) == index) matching |= 1U << candidate;
    }
    w.branch(matching, table[index]);
    mask &= ~matching;
  }
}

void leave(warp& w, operation const&, lane_mask mask)
{
  w.leave(mask);
}

void finish(warp& w, operation const&, lane_mask mask)
{
  w.finish(mask);
}

void trap(warp& w, operation const& o, lane_mask mask)
{
  w.fail(error_kind::trap, "the kernel executed trap",
         static_cast<unsigned>(std::countr_zero(mask)), o);
}

void pause(warp& w, operation const&, lane_mask)
{
  w.yield_turn();
}

void emit_branch(decoding& d, syntax::operand const& operand)
{
  auto const target = d.label(operand);
  auto& o = d.emit(&branch);
  o.immediate = target;
  o.flags = k_branch;
}

void decode_bra(decoding& d)
{
  (void)d.take("uni");
  d.expect_count(1, 1);
  emit_branch(d, d.operand(0));
}

void decode_brx(decoding& d)
{
  if (!d.take("idx")) d.fail_unsupported();
  (void)d.take("uni");
  d.expect_count(2, 2);
  auto const table = d.branch_table(d.operand(1).name);
  auto const a = d.source(0, type::u32);
  auto& o = d.emit(&branch_indexed);
  o.a = a;
  o.immediate = table;
}

void decode_return(decoding& d)
{
  (void)d.take("uni");
  d.expect_count(0, 0);
  d.store_register_results();
  d.emit(&leave);
}

template <handler Run>
void decode_end(decoding& d)
{
  (void)d.take("uni");
  d.expect_count(0, 0);
  d.emit(Run);
}

void decode_nanosleep(decoding& d)
{
  if (d.take_type() != type::u32) d.fail_unsupported();
  d.expect_count(1, 1);
  d.emit(&pause);
}

}  // namespace

void emit_return(decoding& d)
{
  d.emit(&leave);
}

void add_control(decode_table& table)
{
  table["bra"] = &decode_bra;
  table["brx"] = &decode_brx;
  table["ret"] = &decode_return;
  table["exit"] = &decode_end<&finish>;
  table["trap"] = &decode_end<&trap>;
  table["brkpt"] = &decode_end<&trap>;
  table["nanosleep"] = &decode_nanosleep;
}

}  // namespace fatlink::interpreter
