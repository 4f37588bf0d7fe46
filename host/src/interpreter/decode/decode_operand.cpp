// SPDX-License-Identifier: Apache-2.0
// Operands: registers, immediates, predicates, special registers, addresses.
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

constexpr std::uint32_t k_most_frame = 1U << 28;  // bytes of a frame's registers

}  // namespace

operand_offset decoding::new_register(unsigned width)
{
  auto const made = code_.register_bytes;
  if (made > k_most_frame) refuse("too many registers");
  code_.register_bytes += width * k_lanes;
  return made;
}

operand_offset decoding::register_at(unsigned index)
{
  auto& offset = offsets_[index];  // plus 1, as 0 says not yet used
  if (offset == 0) {
    auto const width = size_of(function_.registers[index].type);
    if (width < 2) refuse("a register of 8 bits");
    offset = new_register(width) + 1;
  }
  return offset - 1;
}

std::uint32_t decoding::predicate_at(unsigned index)
{
  if (function_.registers[index].type != type::pred)
    reject(function_.registers[index].name + " is no predicate");
  auto& offset = offsets_[index];
  if (offset == 0) offset = code_.predicates++;
  return offset * 2;
}

operand_offset decoding::constant(std::uint64_t bits, unsigned width)
{
  if (width < 8) bits &= (std::uint64_t{1} << (8 * width)) - 1;
  auto const [at, is_new] = constants_.emplace(
      std::pair{bits, width}, static_cast<operand_offset>(code_.constants.size()) | k_constant);
  if (is_new) {
    code_.constants.resize(code_.constants.size() + std::size_t{width} * k_lanes);
    auto* const lanes = code_.constants.data() + (at->second & ~k_constant);
    for (unsigned i = 0; i < k_lanes; ++i) std::memcpy(lanes + i * width, &bits, width);
    if (code_.constants.size() > k_most_frame) refuse("too many constants");
  }
  return at->second;
}

std::uint64_t decoding::immediate(syntax::operand const& from, type as) const
{
  if (from.kind == operand_kind::integer) return from.bits;
  auto const narrow = from.kind == operand_kind::real32;
  auto const value =
      narrow ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(from.bits)))
             : std::bit_cast<double>(from.bits);
  if (as == type::f32 && !narrow) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (as == type::f64 && narrow) return std::bit_cast<std::uint64_t>(value);
  if (as == type::f16 || as == type::bf16) refuse("a decimal immediate of 16 bits");
  return from.bits;
}

operand_offset decoding::source(syntax::operand const& from, type as)
{
  auto const width = std::max(size_of(as), 2U);
  switch (from.kind) {
    case operand_kind::register_: {
      auto const& one = function_.registers[from.index];
      if (from.negated || one.type == type::pred) reject(one.name + " is a predicate");
      if (size_of(one.type) != width) reject(one.name + " is of another width");
      return register_at(from.index);
    }
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return constant(immediate(from, as), width);
    case operand_kind::special:
      return special(from, as);
    case operand_kind::variable:
    case operand_kind::symbol:
      return address(from, as);
    default:
      refuse("an operand of a form that is not known");
  }
}

operand_offset decoding::special(syntax::operand const& from, type as)
{
  auto const made = new_register(size_of(as));
  if (!emit_special(*this, from.name, made, size_of(as)))
    refuse("unknown special register " + from.name);
  return made;
}

operand_offset decoding::address(syntax::operand const& from, type as)
{
  auto const width = size_of(as);
  if (width < 4) reject("an address in 16 bits");
  auto const offset = static_cast<std::uint64_t>(from.offset);
  if (from.kind == operand_kind::symbol) {
    auto const* const found = find(from.name);
    if (found == nullptr) refuse(from.name + " is not declared");
    return constant(address_of(*found) + offset, width);
  }
  if (is_kernel_parameter(from.index))
    return constant(k_parameter_window + local_offsets_[from.index] + offset, width);
  if (auto const inner = addresses_.inner.find({index_, from.index});
      inner != addresses_.inner.end())
    return constant(inner->second + offset, width);
  auto const made = new_register(width);
  emit_local_address(*this, local_offsets_[from.index] + offset, made, width);
  return made;
}

std::uint64_t decoding::address_of(entity const& what)
{
  switch (what.is) {
    case entity::kind::variable:
      return addresses_.variables[what.index];
    case entity::kind::dynamic_shared:
      return addresses_.dynamic_shared;
    case entity::kind::function:
      refer_to(what.index);
      return k_function_window + what.index * k_function_stride;
    case entity::kind::builtin:
      break;
  }
  refuse("the address of a built-in function");
}

void decoding::refer_to(unsigned function_index)
{
  if (references_.insert(function_index).second) code_.references.push_back(function_index);
}

operand_offset decoding::destination(syntax::operand const& from, type as)
{
  auto const width = std::max(size_of(as), 2U);
  if (from.kind == operand_kind::sink) return new_register(width);
  if (from.kind != operand_kind::register_) reject("the destination is no register");
  auto const& one = function_.registers[from.index];
  if (one.type == type::pred || size_of(one.type) != width)
    reject(one.name + " is of another width");
  return register_at(from.index);
}

std::uint32_t decoding::predicate(std::size_t index)
{
  return predicate(operand(index));
}

std::uint32_t decoding::predicate(syntax::operand const& from)
{
  if (from.kind == operand_kind::integer) return from.bits != 0 ? k_true : k_false;
  if (from.kind != operand_kind::register_) reject("an operand that is no predicate");
  return predicate_at(from.index) + (from.negated ? 1 : 0);
}

std::uint32_t decoding::predicate_destination(syntax::operand const& from)
{
  if (from.kind == operand_kind::sink) return code_.predicates++ * 2;
  if (from.kind != operand_kind::register_ || from.negated)
    reject("the destination is no predicate");
  return predicate_at(from.index);
}

std::uint64_t decoding::integer(std::size_t index) const
{
  if (operand(index).kind != operand_kind::integer) refuse("an operand that is no constant");
  return operand(index).bits;
}

unsigned decoding::width_of(syntax::operand const& from) const
{
  return is_register(from) ? size_of(function_.registers[from.index].type) : 0;
}

}  // namespace fatlink::interpreter
