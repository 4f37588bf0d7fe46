// SPDX-License-Identifier: Apache-2.0
// call, direct and by address, and calls of the functions that the device itself has: vprintf,
// __assertfail, malloc, free. Source: PTX ISA 9.0, "call".
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

/// Bytes of what a function returns and takes.
struct prototype_sizes {
  std::vector<std::uint64_t> results = {};
  std::vector<std::uint64_t> arguments = {};
};

// printf and assert, as nvcc calls them: vprintf(format, arguments), where the arguments are packed
// like C's variadic arguments, each aligned to its size; __assertfail(message, file, line,
// function, character size).

/// What a call takes the host, in instructions of a warp.
constexpr std::uint64_t k_print_charge = 1024;

template <typename T>
T argument(warp const& w, call_site const& site, std::size_t index, unsigned lane)
{
  T value;
  std::memcpy(&value, w.local(lane, site.arguments[index].offset), sizeof(T));
  return value;
}

/// Reads packed arguments in order.
class packed_arguments {
 public:
  packed_arguments(warp& w, std::uint64_t address, unsigned lane, operation const& op)
      : warp_(w), address_(address), lane_(lane), op_(op)
  {
  }

  template <typename T>
  T next()
  {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, warp_.resolve(address_, sizeof(T), lane_, op_, false), sizeof(T));
    address_ += sizeof(T);
    return value;
  }
  std::string text_at(std::uint64_t address) { return warp_.text_at(address, lane_, op_); }

 private:
  warp& warp_;
  std::uint64_t address_;
  unsigned lane_;
  operation const& op_;
};

/// One conversion of a format. `flags` is "%-8.3": without the length and the letter.
struct specification {
  std::string flags = {};
  bool is_long = false;
  unsigned halvings = 0;  ///< 1: h, 2: hh
  char letter = '\0';
};

specification parse(std::string const& format, std::size_t& position, packed_arguments& arguments)
{
  constexpr std::string_view k_flags = "-+ #0123456789.";
  specification result{.flags = "%"};
  for (; position < format.size(); ++position) {
    auto const c = format[position];
    if (c == '*')
      result.flags += std::to_string(arguments.next<std::int32_t>());
    else if (c == 'l' || c == 'j' || c == 'z' || c == 't')
      result.is_long = true;
    else if (c == 'h')
      ++result.halvings;
    else if (k_flags.find(c) != std::string_view::npos && result.flags.size() < 32)
      result.flags += c;
    else
      break;
  }
  if (position < format.size()) result.letter = format[position++];
  return result;
}

/// Whether a width or precision in `format` is above k_max_text: snprintf would take so much
/// memory.
bool exceeds_text(std::string const& format) noexcept
{
  std::size_t number = 0;
  for (auto const c : format) {
    number = c >= '0' && c <= '9' ? 10 * number + static_cast<std::size_t>(c - '0') : 0;
    if (number > k_max_text) return true;
  }
  return false;
}

/// `format` is "%", flags accepted by parse(), and a letter for an argument of type T. Nothing for
/// what is longer than k_max_text.
template <typename T>
std::string formatted(std::string const& format, T value)
{
  if (exceeds_text(format)) return {};
  auto const size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size <= 0 || static_cast<std::size_t>(size) > k_max_text) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

/// What C converts an argument to that a conversion with h or hh prints.
template <typename Narrow, typename Narrowest, typename T>
T narrowed(T value, unsigned halvings) noexcept
{
  if (halvings == 0) return value;
  return halvings == 1 ? static_cast<T>(static_cast<Narrow>(value))
                       : static_cast<T>(static_cast<Narrowest>(value));
}

/// As the C library prints a null pointer, too.
std::string text_argument(specification const& conversion, packed_arguments& arguments)
{
  auto const format = conversion.flags + 's';
  auto const address = arguments.next<std::uint64_t>();
  if (address == 0) return formatted<char const*>(format, nullptr);
  return formatted(format, arguments.text_at(address).c_str());
}

std::string converted(specification const& conversion, packed_arguments& arguments)
{
  auto const integer_format = conversion.flags + "ll" + conversion.letter;
  switch (conversion.letter) {
    case 'd':
    case 'i':
      return formatted<long long>(
          integer_format, conversion.is_long
                              ? arguments.next<std::int64_t>()
                              : narrowed<std::int16_t, std::int8_t>(arguments.next<std::int32_t>(),
                                                                    conversion.halvings));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return formatted<unsigned long long>(
          integer_format, conversion.is_long
                              ? arguments.next<std::uint64_t>()
                              : narrowed<std::uint16_t, std::uint8_t>(
                                    arguments.next<std::uint32_t>(), conversion.halvings));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return formatted(conversion.flags + conversion.letter,
                       std::bit_cast<double>(arguments.next<std::uint64_t>()));
    case 'c':
      return formatted(conversion.flags + 'c', arguments.next<std::int32_t>());
    case 'p':
      return formatted(conversion.flags + 'p',
                       reinterpret_cast<void const*>(arguments.next<std::uint64_t>()));
    case 's':
      return text_argument(conversion, arguments);
    default:
      return conversion.flags + conversion.letter;  // printed as CUDA prints an unknown conversion
  }
}

void device_printf(warp& w, call_site const& site, unsigned lane, operation const& op)
{
  auto const format = w.text_at(argument<std::uint64_t>(w, site, 0, lane), lane, op);
  packed_arguments arguments(w, argument<std::uint64_t>(w, site, 1, lane), lane, op);
  std::string text;
  std::int32_t count = 0;
  for (std::size_t position = 0; position < format.size() && text.size() < k_max_text;) {
    auto const c = format[position++];
    if (c != '%' || position >= format.size()) {
      text += c;
    } else if (format[position] == '%') {
      text += format[position++];
    } else {
      text += converted(parse(format, position, arguments), arguments);
      ++count;
    }
  }
  if (w.launch().print) w.launch().print(text);
  w.charge(k_print_charge + text.size());
  if (!site.results.empty())
    std::memcpy(w.local(lane, site.results[0].offset), &count, sizeof count);
}

void device_assert(warp& w, call_site const& site, unsigned lane, operation const& op)
{
  auto const message = w.text_at(argument<std::uint64_t>(w, site, 0, lane), lane, op);
  auto const file = w.text_at(argument<std::uint64_t>(w, site, 1, lane), lane, op);
  auto const line = argument<std::uint32_t>(w, site, 2, lane);
  auto const function = w.text_at(argument<std::uint64_t>(w, site, 3, lane), lane, op);
  w.fail(
      error_kind::trap,
      file + ":" + std::to_string(line) + ": " + function + ": assertion '" + message + "' failed",
      lane, op);
}

// malloc and free. nvcc compiles new, delete and virtual destructors to them.

/// What a call for a thread takes the host, in instructions of a warp.
constexpr std::uint64_t k_heap_charge = 128;

std::uint64_t argument_of(warp const& w, call_site const& site, unsigned lane)
{
  std::uint64_t value = 0;
  std::memcpy(&value, w.local(lane, site.arguments[0].offset), sizeof value);
  return value;
}

/// The memory may have been that of other threads.
void forget_accesses(warp const& w, std::uint64_t address, std::uint64_t bytes)
{
  auto const* const region = find_region(*w.launch().regions, address, 1);
  if (region != nullptr) w.launch().races->forget(*region, address - region->base, bytes);
}

void call_malloc(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const bytes = argument_of(w, site, lane);
    auto const address = w.launch().heap->allocate(bytes);
    w.charge(k_heap_charge);
    if (address != 0 && w.launch().races != nullptr) forget_accesses(w, address, bytes);
    if (!site.results.empty())
      std::memcpy(w.local(lane, site.results[0].offset), &address, sizeof address);
  }
}

void call_free(warp& w, operation const& o, lane_mask mask)
{
  auto const& site = w.current().code->calls[o.immediate];
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    w.charge(k_heap_charge);
    if (!w.launch().heap->release(argument_of(w, site, lane)))
      w.fail(error_kind::address,
             "frees memory that malloc did not return, or that is free already", lane, o);
  }
}

void emit_call(decoding& d, call_site const& site, handler run, char const* name,
               std::size_t max_results)
{
  auto const takes_address = site.arguments.size() == 1 && site.arguments[0].size == 8;
  auto const returns_address =
      site.results.size() <= max_results && (site.results.empty() || site.results[0].size == 8);
  if (!takes_address) d.reject_call(std::string("the arguments are not those of ") + name);
  if (!returns_address) d.reject_call(std::string("the result is not that of ") + name);
  d.result().uses_heap = true;
  d.emit(run).immediate = d.result().calls.size();
}

void decode_malloc(decoding& d, call_site const& site)
{
  emit_call(d, site, &call_malloc, "malloc", 1);
}

void decode_free(decoding& d, call_site const& site)
{
  emit_call(d, site, &call_free, "free", 0);
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

/// Adds a call of the function that the device has. The call site is the next of code::calls.
/// @throws code_error (prototype) other arguments or results.
void decode_builtin_call(decoding& d, call_site const& site, builtin function)
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

/// What the function that the device has returns and takes.
prototype_sizes builtin_sizes(builtin function)
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

// What a call passes to a function, and what it gets back.

/// A call's arguments or results as places in the frame. A register or a constant gets a place of
/// its own, to which it is copied before the call, or from which it is copied after it.
class passed_values {
 public:
  /// `sizes[i]`: the bytes of value i, for constants and `_`; empty: unknown.
  /// @throws code_error (refused) a value of another kind, or a constant of unknown size.
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
      d_.fail_unsupported("an argument that is not a .param variable");
    case operand_kind::register_:
      return copied({part});
    case operand_kind::vector:
      return copied(part.parts);
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return copied(part, constant_type(part, size));
    case operand_kind::sink:
      if (size == 0) d_.fail_unsupported("_ in a call by address");
      return d_.new_slot(static_cast<unsigned>(size));
    default:
      d_.fail_unsupported("an argument that is neither a .param variable nor a register");
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
    if (type_of(registers[i]) != type)
      d_.fail_unsupported("an argument of registers of several types");
    auto const offset =
        type == type::pred ? d_.predicate(registers[i]) : d_.source(registers[i], type);
    copies_.push_back({type, offset, {place.offset + i * size, size}});
  }
  return place;
}

ptx::type passed_values::type_of(syntax::operand const& part) const
{
  if (!d_.is_register(part)) d_.fail_unsupported("an argument of other things than registers");
  return d_.function().registers[part.index].type;
}

ptx::type passed_values::constant_type(syntax::operand const& constant, std::uint64_t size) const
{
  auto const is_real = constant.kind != operand_kind::integer;
  if (size == 8) return is_real ? type::f64 : type::b64;
  if (size == 4) return is_real ? type::f32 : type::b32;
  if (size == 2 && !is_real) return type::b16;
  if (size == 1 && !is_real) return type::b8;
  d_.fail_unsupported("a constant as an argument of unknown size");
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
    w.fail(error_kind::address, "calls an address that is not a function", lane, o);
  if (!accepts(*callee, site))
    w.fail(error_kind::prototype, "the arguments are not those of " + callee->name, lane, o);
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
  if (meaning == nullptr) d.fail_unsupported(name + " is not declared");
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
