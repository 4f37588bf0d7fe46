// SPDX-License-Identifier: Apache-2.0
// Branches, calls, returns, ends. Source: PTX ISA 9.0, "Control Flow Instructions".
#include <algorithm>
#include <array>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/device_print.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/limits.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

void branch(warp& w, operation const& o, lane_mask mask)
{
  w.branch(mask, static_cast<std::uint32_t>(o.immediate));
}

/// Lanes with the same index go together; an index beyond the table is undefined: an error here.
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
    lane_mask same = 0;
    for (auto left = mask; left != 0; left &= left - 1) {
      auto const other = static_cast<unsigned>(std::countr_zero(left));
      if (load<std::uint32_t>(a, other) == index) same |= 1U << other;
    }
    w.branch(same, table[index]);
    mask &= ~same;
  }
}

void call_direct(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  w.call(mask, *w.launch().functions[site.callee], site);
}

/// `expected` of the callee, the last one the room of a variadic list where `is_variadic`.
template <typename Size>
bool accepts(std::vector<slot> const& given, std::size_t count, bool is_variadic,
             Size const& expected)
{
  auto const named = is_variadic ? count - 1 : count;
  if (given.size() != named && !(is_variadic && given.size() == count)) return false;
  for (std::size_t i = 0; i < named; ++i)
    if (given[i].size != expected(i)) return false;
  return true;
}

bool accepts(code const& callee, call_site const& site)
{
  auto const parameter = [&](std::size_t i) { return callee.parameters[i].size; };
  auto const result = [&](std::size_t i) { return callee.results[i].size; };
  return accepts(site.arguments, callee.parameters.size(), callee.is_variadic, parameter) &&
         accepts(site.results, callee.results.size(), false, result);
}

/// Calls one function; lanes that call others come back here.
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
    w.fail(fault::address, "calls what is no function", lane, o);
  if (!accepts(*callee, site))
    w.fail(fault::prototype, "the arguments are not those of " + callee->name, lane, o);
  lane_mask same = 0;
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const other = static_cast<unsigned>(std::countr_zero(left));
    if (load<std::uint64_t>(a, other) == address) same |= 1U << other;
  }
  w.call_some(same, mask & ~same, *callee, site);
}

void call_printf(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto left = mask; left != 0; left &= left - 1)
    device_printf(w, site, static_cast<unsigned>(std::countr_zero(left)), o);
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
  w.fail(fault::trap, "the kernel stopped itself", static_cast<unsigned>(std::countr_zero(mask)),
         o);
}

void pause(warp& w, operation const&, lane_mask)
{
  w.yield_turn();
}

void emit_branch(decoding& d, syntax::operand const& to)
{
  auto const target = d.label(to);
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
  std::vector<slot> found;
  for (auto const& one : list.parts) {
    auto const is_parameter = one.kind == operand_kind::variable &&
                              d.function().variables[one.index].space == space::param;
    if (!is_parameter) d.refuse("an argument that is no .param variable");
    found.push_back(d.slot_of(one.index));
  }
  return found;
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

void decode_builtin(decoding& d, call_site const& site, builtin which)
{
  if (which == builtin::heap) d.refuse_feature(k_device_heap);
  static constexpr std::array<std::uint32_t, 2> k_print{8, 8};
  static constexpr std::array<std::uint32_t, 5> k_assert{8, 8, 4, 8, 8};
  auto const fits = [&](auto const& sizes) {
    return std::equal(site.arguments.begin(), site.arguments.end(), sizes.begin(), sizes.end(),
                      [](slot const& a, std::uint32_t size) { return a.size == size; });
  };
  auto const is_print = which == builtin::printf;
  if (is_print ? !fits(k_print) || site.results.size() > 1
               : !fits(k_assert) || !site.results.empty())
    d.reject_call(std::string("the arguments are not those of ") +
                  (is_print ? "vprintf" : "__assertfail"));
  if (is_print && !site.results.empty() && site.results[0].size != 4)
    d.reject_call("the result is not that of vprintf");
  d.emit(is_print ? &call_printf : &call_assert_fail).immediate = d.made().calls.size();
}

/// call (results), function, (arguments), prototype; all but the function may be missing.
void decode_call(decoding& d)
{
  (void)d.take("uni");
  std::size_t at = 0;
  call_site site;
  if (d.operand(at).kind == operand_kind::list) site.results = slots_of(d, d.operand(at++));
  auto const& callee = d.operand(at++);
  if (at < d.count() && d.operand(at).kind == operand_kind::list)
    site.arguments = slots_of(d, d.operand(at++));
  if (callee.kind == operand_kind::symbol) {
    auto const* const found = d.find(callee.name);
    if (found == nullptr) d.refuse(callee.name + " is not declared");
    if (found->is == entity::kind::builtin) {
      decode_builtin(d, site, static_cast<builtin>(found->index));
    } else if (found->is == entity::kind::function) {
      auto const& is = *d.modules().functions[found->index].what;
      if (is.is_entry) d.reject("calls a kernel");
      check_call(d, site, is);
      site.callee = found->index;
      d.refer_to(found->index);
      d.emit(&call_direct).immediate = d.made().calls.size();
    } else {
      d.reject(callee.name + " is no function");
    }
  } else {
    auto const a = d.source(callee, type::b64);
    auto& o = d.emit(&call_indirect);
    o.a = a;
    o.immediate = d.made().calls.size();
  }
  d.made().calls.push_back(std::move(site));
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

void add_control(decode_table& to)
{
  to["bra"] = &decode_bra;
  to["brx"] = &decode_brx;
  to["call"] = &decode_call;
  to["ret"] = &decode_end<&leave>;
  to["exit"] = &decode_end<&finish>;
  to["trap"] = &decode_end<&trap>;
  to["brkpt"] = &decode_end<&trap>;
  to["nanosleep"] = &decode_nanosleep;
}

}  // namespace fatlink::interpreter
