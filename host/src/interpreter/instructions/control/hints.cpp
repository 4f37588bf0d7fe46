// SPDX-License-Identifier: Apache-2.0
// Instructions without an effect on results: hints to the scheduler, to the grid that follows, to
// profilers and to caches. Source: PTX ISA 9.0, "griddepcontrol", "pmevent", "setmaxnreg",
// "prefetch", "createpolicy", "discard", "applypriority".

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// Kernels run one after the other, so the grids that one depends on have ended.
void decode_grid_control(decoding& d)
{
  if (!d.take("launch_dependents") && !d.take("wait"))
    d.fail_unsupported("neither .launch_dependents nor .wait");
  d.expect_count(0, 0);
  d.emit(&do_nothing);
}

void decode_event(decoding& d)
{
  (void)d.take("mask");
  d.expect_count(1, 1);
  (void)d.integer(0);
  d.emit(&do_nothing);
}

/// The device has any number of registers.
void decode_register_count(decoding& d)
{
  if (d.take_type() != type::u32 || (!d.take("inc") && !d.take("dec"))) d.fail_unsupported();
  if (!d.take("sync") || !d.take("aligned")) d.fail_unsupported();
  d.expect_count(1, 1);
  (void)d.integer(0);
  d.emit(&do_nothing);
}

// prefetch, createpolicy, discard, applypriority.

constexpr unsigned k_line = 128;  // bytes that discard and applypriority take

/// Checks that the line exists: its contents are undefined afterwards, here unchanged.
void discard(warp& w, operation const& o, lane_mask mask)
{
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const base = o.a == k_no_operand ? 0 : load<std::uint64_t>(w.at(o.a), lane);
    (void)w.resolve(base + o.immediate, k_line, lane, o, true);
  }
}

/// A policy is opaque. Here it is 0.
void make_policy(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  each_lane(mask, [=](unsigned i) { store(d, i, std::uint64_t{0}); });
}

void decode_prefetch(decoding& d)
{
  (void)d.take("tensormap");
  (void)take_space(d);
  auto const has_level =
      d.take("L1") || d.take("L2") || d.take("L2::evict_last") || d.take("L2::evict_normal");
  (void)has_level;  // .tensormap has none
  d.expect_count(1, 1);
  if (d.operand(0).kind != syntax::operand_kind::address) d.fail_unsupported("no address");
  d.emit(&do_nothing);
}

/// discard and applypriority: an address, and the size of the line.
template <handler Run>
void decode_line(decoding& d)
{
  auto const space = take_space(d);
  if (!d.take("L2") && !d.take("L2::evict_normal")) d.fail_unsupported();
  if (space != space::global && space != space::generic) d.reject("not in global memory");
  d.expect_count(2, 2);
  if (d.integer(1) != k_line) d.reject("the size is not 128");
  auto const address = decode_address(d, d.operand(0), space);
  auto& o = d.emit(Run);
  o.a = address.base;
  o.immediate = address.offset;
}

void decode_createpolicy(decoding& d)
{
  if (d.take_type() != type::b64) d.fail_unsupported();
  if (d.take("cvt")) {
    if (!d.take("L2")) d.fail_unsupported();
    d.expect_count(2, 2);
    (void)d.source(1, type::b64);
  } else {
    auto const is_range = d.take("range");
    if (!is_range && !d.take("fractional")) d.fail_unsupported();
    (void)take_space(d);
    if (!take_eviction_priority(d, "L2")) d.fail_unsupported("no priority");
    (void)take_eviction_priority(d, "L2");
    d.expect_count(is_range ? 4 : 1, is_range ? 4 : 2);
  }
  auto const result = d.destination(0, type::b64);
  d.emit(&make_policy).d = result;
}

}  // namespace

void add_hints(decode_table& table)
{
  table["griddepcontrol"] = &decode_grid_control;
  table["pmevent"] = &decode_event;
  table["setmaxnreg"] = &decode_register_count;
  table["prefetch"] = &decode_prefetch;
  table["prefetchu"] = &decode_prefetch;
  table["createpolicy"] = &decode_createpolicy;
  table["discard"] = &decode_line<&discard>;
  table["applypriority"] = &decode_line<&do_nothing>;
}

}  // namespace fatlink::interpreter
