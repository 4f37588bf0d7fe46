// SPDX-License-Identifier: Apache-2.0
// Branches, calls, returns and the end of a thread. Source: PTX ISA 9.0, "Control Flow
// Instructions".
#include <algorithm>
#include <array>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/device_print.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/heap_calls.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

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
      w.fail(fault::address,
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

void call_direct(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  w.call(mask, *w.launch().functions[site.callee], site);
}

/// Whether the slots `passed` match the callee's `count` slots, of which expected(i) is the size.
/// If `is_variadic`, the last slot is optional and of any size.
template <typename Size>
bool accepts(std::vector<slot> const& passed, std::size_t count, bool is_variadic,
             Size const& expected)
{
  auto const named = is_variadic ? count - 1 : count;
  if (passed.size() != named && !(is_variadic && passed.size() == count)) return false;
  for (std::size_t i = 0; i < named; ++i)
    if (passed[i].size != expected(i)) return false;
  return true;
}

bool accepts(code const& callee, call_site const& site)
{
  auto const parameter = [&](std::size_t i) { return callee.parameters[i].size; };
  auto const result = [&](std::size_t i) { return callee.results[i].size; };
  return accepts(site.arguments, callee.parameters.size(), callee.is_variadic, parameter) &&
         accepts(site.results, callee.results.size(), false, result);
}

/// Calls the function of the first lane; lanes that call another one execute this again.
void call_indirect(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  auto const* const a = w.at(o.a);
  auto const lane = static_cast<unsigned>(std::countr_zero(mask));
  auto const address = load<std::uint64_t>(a, lane);
  auto const index = (address - k_function_window) / k_function_stride;
  auto const& functions = w.launch().functions;
  auto const* const callee =
      address >= k_function_window && address % k_function_stride == 0 && index < functions.size()
          ? functions[index]
          : nullptr;
  if (callee == nullptr || callee->is_entry)
    w.fail(fault::address, "calls an address that is not a function", lane, o);
  if (!accepts(*callee, site))
    w.fail(fault::prototype, "the arguments are not those of " + callee->name, lane, o);
  lane_mask matching = 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const candidate = static_cast<unsigned>(std::countr_zero(remaining));
    if (load<std::uint64_t>(a, candidate) == address) matching |= 1U << candidate;
  }
  w.call_some(matching, mask & ~matching, *callee, site);
}

void call_printf(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1)
    device_printf(w, site, static_cast<unsigned>(std::countr_zero(remaining)), o);
}

void call_assert_fail(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  device_assert(w, site, static_cast<unsigned>(std::countr_zero(mask)), o);
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
  w.fail(fault::trap, "the kernel executed trap", static_cast<unsigned>(std::countr_zero(mask)), o);
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
  if (!d.take("idx")) d.refuse();
  (void)d.take("uni");
  d.expect_count(2, 2);
  auto const table = d.branch_table(d.operand(1).name);
  auto const a = d.source(0, type::u32);
  auto& o = d.emit(&branch_indexed);
  o.a = a;
  o.immediate = table;
}

std::vector<slot> slots_of(decoding const& d, syntax::operand const& list)
{
  std::vector<slot> slots;
  for (auto const& part : list.parts) {
    auto const is_parameter = part.kind == operand_kind::variable &&
                              d.function().variables[part.index].space == space::param;
    if (!is_parameter) d.refuse("an argument that is not a .param variable");
    slots.push_back(d.slot_of(part.index));
  }
  return slots;
}

void check_call(decoding const& d, call_site const& site, syntax::function const& callee)
{
  auto const parameter = [&](std::size_t i) { return callee.parameters[i].bytes(); };
  auto const result = [&](std::size_t i) { return callee.results[i].bytes(); };
  if (!accepts(site.arguments, callee.parameters.size(), is_variadic(callee), parameter))
    d.reject_call("the arguments are not those of " + callee.name);
  if (!accepts(site.results, callee.results.size(), false, result))
    d.reject_call("the result is not that of " + callee.name);
}

template <std::size_t Count>
bool has_sizes(std::vector<slot> const& slots, std::array<std::uint32_t, Count> const& sizes)
{
  return std::equal(slots.begin(), slots.end(), sizes.begin(), sizes.end(),
                    [](slot const& slot, std::uint32_t size) { return slot.size == size; });
}

void decode_printf(decoding& d, call_site const& site)
{
  if (!has_sizes(site.arguments, std::array<std::uint32_t, 2>{8, 8}) || site.results.size() > 1)
    d.reject_call("the arguments are not those of vprintf");
  if (!site.results.empty() && site.results[0].size != 4)
    d.reject_call("the result is not that of vprintf");
  d.emit(&call_printf).immediate = d.result().calls.size();
}

void decode_assert_fail(decoding& d, call_site const& site)
{
  auto const accepted = has_sizes(site.arguments, std::array<std::uint32_t, 5>{8, 8, 4, 8, 8}) &&
                        site.results.empty();
  if (!accepted) d.reject_call("the arguments are not those of __assertfail");
  d.emit(&call_assert_fail).immediate = d.result().calls.size();
}

void decode_builtin(decoding& d, call_site const& site, builtin function)
{
  switch (function) {
    case builtin::printf:
      return decode_printf(d, site);
    case builtin::assert_fail:
      return decode_assert_fail(d, site);
    case builtin::malloc:
      return decode_malloc(d, site);
    case builtin::free:
      return decode_free(d, site);
  }
}

void decode_direct_call(decoding& d, call_site& site, std::string const& name)
{
  auto const* const meaning = d.find(name);
  if (meaning == nullptr) d.refuse(name + " is not declared");
  if (meaning->kind == entity_kind::builtin)
    return decode_builtin(d, site, static_cast<builtin>(meaning->index));
  if (meaning->kind != entity_kind::function) d.reject(name + " is not a function");
  auto const& callee = *d.modules().functions[meaning->index].syntax;
  if (callee.is_entry) d.reject("calls a kernel");
  check_call(d, site, callee);
  site.callee = meaning->index;
  d.refer_to(meaning->index);
  d.emit(&call_direct).immediate = d.result().calls.size();
}

void decode_indirect_call(decoding& d, syntax::operand const& callee)
{
  auto const address = d.source(callee, type::b64);
  auto& o = d.emit(&call_indirect);
  o.a = address;
  o.immediate = d.result().calls.size();
}

/// call (results), function, (arguments), prototype: only the function is required.
void decode_call(decoding& d)
{
  (void)d.take("uni");
  std::size_t index = 0;
  call_site site;
  if (d.operand(index).kind == operand_kind::list) site.results = slots_of(d, d.operand(index++));
  auto const& callee = d.operand(index++);
  if (index < d.count() && d.operand(index).kind == operand_kind::list)
    site.arguments = slots_of(d, d.operand(index++));
  if (callee.kind == operand_kind::symbol)
    decode_direct_call(d, site, callee.name);
  else
    decode_indirect_call(d, callee);
  d.result().calls.push_back(std::move(site));
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
  if (d.take_type() != type::u32) d.refuse();
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
  table["call"] = &decode_call;
  table["ret"] = &decode_end<&leave>;
  table["exit"] = &decode_end<&finish>;
  table["trap"] = &decode_end<&trap>;
  table["brkpt"] = &decode_end<&trap>;
  table["nanosleep"] = &decode_nanosleep;
}

}  // namespace fatlink::interpreter
