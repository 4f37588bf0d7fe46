// SPDX-License-Identifier: Apache-2.0
// call, direct and by address, and the functions that the device itself has.
// Source: PTX ISA 9.0, "call".
#include <algorithm>
#include <array>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/device_print.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/heap_calls.hpp"
#include "interpreter/instructions/control/passed_values.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

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

struct prototype_sizes {
  std::vector<std::uint64_t> results = {};
  std::vector<std::uint64_t> arguments = {};
};

std::vector<std::uint64_t> sizes_of(std::vector<syntax::variable> const& variables)
{
  std::vector<std::uint64_t> sizes;
  for (auto const& variable : variables) sizes.push_back(variable.bytes());
  return sizes;
}

prototype_sizes sizes_of(builtin function)
{
  switch (function) {
    case builtin::printf:
      return {{4}, {8, 8}};
    case builtin::assert_fail:
      return {{}, {8, 8, 4, 8, 8}};
    case builtin::malloc:
      return {{8}, {8}};
    case builtin::free:
      return {{}, {8}};
  }
  return {};
}

/// What the callee takes; nothing for a call by address.
prototype_sizes sizes_of(decoding const& d, syntax::operand const& callee)
{
  auto const* const meaning = callee.kind == operand_kind::symbol ? d.find(callee.name) : nullptr;
  if (meaning == nullptr) return {};
  if (meaning->kind == entity_kind::builtin) return sizes_of(static_cast<builtin>(meaning->index));
  if (meaning->kind != entity_kind::function) return {};
  auto const& function = *d.modules().functions[meaning->index].syntax;
  return {sizes_of(function.results), sizes_of(function.parameters)};
}

/// call (results), function, (arguments), prototype: only the function is required.
void decode_call(decoding& d)
{
  (void)d.take("uni");
  auto const is_list = [&d](std::size_t index) {
    return index < d.count() && d.operand(index).kind == operand_kind::list;
  };
  std::size_t const callee_index = is_list(0) ? 1 : 0;
  auto const& callee = d.operand(callee_index);
  auto const sizes = sizes_of(d, callee);
  syntax::operand const none;
  passed_values const results(d, is_list(0) ? d.operand(0) : none, sizes.results);
  passed_values const arguments(d, is_list(callee_index + 1) ? d.operand(callee_index + 1) : none,
                                sizes.arguments);
  call_site site{.callee = 0, .arguments = arguments.slots(), .results = results.slots()};
  arguments.copy(true);
  if (callee.kind == operand_kind::symbol)
    decode_direct_call(d, site, callee.name);
  else
    decode_indirect_call(d, callee);
  d.result().calls.push_back(std::move(site));
  results.copy(false);
}

}  // namespace

void add_calls(decode_table& table)
{
  table["call"] = &decode_call;
}

}  // namespace fatlink::interpreter
