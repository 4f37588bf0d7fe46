// SPDX-License-Identifier: Apache-2.0
// call, direct and by address. Source: PTX ISA 9.0, "call".
#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/builtin_calls.hpp"

namespace fatlink::interpreter {
namespace {

// What a call passes to a function, and what it gets back.

/// A call's arguments or results as places in the frame. A register or a constant gets a place of
/// its own, to which it is copied before the call, or from which it is copied after it.
class passed_values {
 public:
  /// `sizes[i]`: the bytes of value i, for constants and `_`; empty: unknown.
  /// @throws failure (refused) a value of another kind, or a constant of unknown size.
  passed_values(decoding& d, syntax::operand const& list, std::vector<std::uint64_t> const& sizes);

  [[nodiscard]] std::vector<slot> const& slots() const noexcept { return slots_; }
  /// Adds operations that copy registers and constants to their places, or back.
  void copy(bool is_store) const;

 private:
  struct copied_value {
    ptx::type type;
    operand_offset register_;
    slot place;
  };

  slot place_of(syntax::operand const& part, std::uint64_t size);
  slot copied(syntax::operand const& part, ptx::type type);
  slot copied(std::vector<syntax::operand> const& registers);
  [[nodiscard]] ptx::type type_of(syntax::operand const& part) const;
  [[nodiscard]] ptx::type constant_type(syntax::operand const& constant, std::uint64_t size) const;

  decoding& d_;
  std::vector<slot> slots_;
  std::vector<copied_value> copies_;
};

using syntax::operand_kind;

passed_values::passed_values(decoding& d, syntax::operand const& list,
                             std::vector<std::uint64_t> const& sizes)
    : d_(d)
{
  for (auto const& part : list.parts) {
    auto const index = slots_.size();
    slots_.push_back(place_of(part, index < sizes.size() ? sizes[index] : 0));
  }
}

void passed_values::copy(bool is_store) const
{
  for (auto const& [type, register_, place] : copies_)
    if (type == type::pred)
      emit_predicate_access(d_, is_store, register_, place);
    else
      emit_frame_access(d_, is_store, type, register_, place);
}

slot passed_values::place_of(syntax::operand const& part, std::uint64_t size)
{
  switch (part.kind) {
    case operand_kind::variable:
      if (d_.function().variables[part.index].space == space::param) return d_.slot_of(part.index);
      d_.refuse("an argument that is not a .param variable");
    case operand_kind::register_:
      return copied({part});
    case operand_kind::vector:
      return copied(part.parts);
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return copied(part, constant_type(part, size));
    case operand_kind::sink:
      if (size == 0) d_.refuse("_ in a call by address");
      return d_.new_slot(static_cast<unsigned>(size));
    default:
      d_.refuse("an argument that is neither a .param variable nor a register");
  }
}

slot passed_values::copied(syntax::operand const& part, ptx::type type)
{
  auto const place = d_.new_slot(size_of(type));
  copies_.push_back({type, d_.source(part, type), place});
  return place;
}

/// Registers of one type, as a vector. A predicate is passed in 32 bits.
slot passed_values::copied(std::vector<syntax::operand> const& registers)
{
  auto const type = type_of(registers.front());
  auto const size = type == type::pred ? 4U : size_of(type);
  auto const place = d_.new_slot(size * static_cast<unsigned>(registers.size()));
  for (unsigned i = 0; i < registers.size(); ++i) {
    if (type_of(registers[i]) != type) d_.refuse("an argument of registers of several types");
    auto const offset =
        type == type::pred ? d_.predicate(registers[i]) : d_.source(registers[i], type);
    copies_.push_back({type, offset, {place.offset + i * size, size}});
  }
  return place;
}

ptx::type passed_values::type_of(syntax::operand const& part) const
{
  if (!d_.is_register(part)) d_.refuse("an argument of other things than registers");
  return d_.function().registers[part.index].type;
}

ptx::type passed_values::constant_type(syntax::operand const& constant, std::uint64_t size) const
{
  auto const is_real = constant.kind != operand_kind::integer;
  if (size == 8) return is_real ? type::f64 : type::b64;
  if (size == 4) return is_real ? type::f32 : type::b32;
  if (size == 2 && !is_real) return type::b16;
  if (size == 1 && !is_real) return type::b8;
  d_.refuse("a constant as an argument of unknown size");
}

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

void check_call(decoding const& d, call_site const& site, syntax::function const& callee)
{
  auto const parameter = [&](std::size_t i) { return callee.parameters[i].bytes(); };
  auto const result = [&](std::size_t i) { return callee.results[i].bytes(); };
  if (!accepts(site.arguments, callee.parameters.size(), is_variadic(callee), parameter))
    d.reject_call("the arguments are not those of " + callee.name);
  if (!accepts(site.results, callee.results.size(), false, result))
    d.reject_call("the result is not that of " + callee.name);
}

void decode_direct_call(decoding& d, call_site& site, std::string const& name)
{
  auto const* const meaning = d.find(name);
  if (meaning == nullptr) d.refuse(name + " is not declared");
  if (meaning->kind == entity_kind::builtin)
    return decode_builtin_call(d, site, static_cast<builtin>(meaning->index));
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

std::vector<std::uint64_t> sizes_of(std::vector<syntax::variable> const& variables)
{
  std::vector<std::uint64_t> sizes;
  for (auto const& variable : variables) sizes.push_back(variable.bytes());
  return sizes;
}

/// What the callee takes; nothing for a call by address.
prototype_sizes sizes_of(decoding const& d, syntax::operand const& callee)
{
  auto const* const meaning = callee.kind == operand_kind::symbol ? d.find(callee.name) : nullptr;
  if (meaning == nullptr) return {};
  if (meaning->kind == entity_kind::builtin)
    return builtin_sizes(static_cast<builtin>(meaning->index));
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
