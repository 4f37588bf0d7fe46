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

/// Registers of 8 bits have 16 in the frame.
unsigned register_width(type type) noexcept
{
  return std::max(size_of(type), 2U);
}

}  // namespace

operand_offset decoding::new_register(unsigned width)
{
  auto const offset = code_.register_bytes;
  if (offset > k_max_registers)
    exceed("more than 1 MiB of registers, the limit of a thread",
           "split the function; a GPU has 255 registers and 512 KiB of local memory for a thread");
  code_.register_bytes += width * k_lanes;
  return offset;
}

operand_offset decoding::register_at(unsigned index)
{
  auto& offset = offsets_[index];  // plus 1: 0 is not used yet
  if (offset == 0) {
    offset = new_register(register_width(function_.registers[index].type)) + 1;
  }
  return offset - 1;
}

std::uint32_t decoding::predicate_at(unsigned index)
{
  if (function_.registers[index].type != type::pred)
    reject(function_.registers[index].name + " is not a predicate");
  auto& offset = offsets_[index];
  if (offset == 0) offset = code_.predicates++;
  return offset * 2;
}

operand_offset decoding::constant(std::uint64_t bits, unsigned width)
{
  if (width < 8) bits &= (std::uint64_t{1} << (8 * width)) - 1;
  auto const [entry, is_new] = constants_.emplace(
      std::pair{bits, width}, static_cast<operand_offset>(code_.constants.size()) | k_constant);
  if (is_new) {
    code_.constants.resize(code_.constants.size() + std::size_t{width} * k_lanes);
    auto* const lanes = code_.constants.data() + (entry->second & ~k_constant);
    for (unsigned i = 0; i < k_lanes; ++i)
      std::memcpy(lanes + i * width, &bits, std::min<std::size_t>(width, sizeof bits));
    if (code_.constants.size() > k_max_constants) refuse("too many constants");
  }
  return entry->second;
}

std::uint64_t decoding::immediate(syntax::operand const& operand, type type) const
{
  if (operand.kind == operand_kind::integer) return operand.bits;
  auto const narrow = operand.kind == operand_kind::real32;
  auto const value =
      narrow ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))
             : std::bit_cast<double>(operand.bits);
  if (type == type::f32 && !narrow) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == type::f64 && narrow) return std::bit_cast<std::uint64_t>(value);
  if (type == type::f16 || type == type::bf16) refuse("a decimal immediate of 16 bits");
  return operand.bits;
}

operand_offset decoding::source(syntax::operand const& operand, type type)
{
  auto const width = register_width(type);
  switch (operand.kind) {
    case operand_kind::register_: {
      auto const& declared = function_.registers[operand.index];
      if (operand.negated || declared.type == type::pred) reject(declared.name + " is a predicate");
      reject_part(operand);
      if (register_width(declared.type) != width) reject(declared.name + " is of another width");
      auto const register_ = register_at(operand.index);
      if (operand.offset == 0) return register_;
      if (is_float(type)) refuse("a sum of a register and a constant in floating point");
      auto const sum = new_register(width);
      emit_sum(*this, register_, static_cast<std::uint64_t>(operand.offset), sum, width);
      return sum;
    }
    case operand_kind::integer:
    case operand_kind::real32:
    case operand_kind::real64:
      return constant(immediate(operand, type), width);
    case operand_kind::special:
      return special(operand, type);
    case operand_kind::variable:
    case operand_kind::symbol:
      return address(operand, type);
    default:
      refuse("unknown form of operand");
  }
}

/// %r1.b0 and -%r1 are operands of video instructions only, which remove both before they read.
void decoding::reject_part(syntax::operand const& operand) const
{
  if (!operand.selector.empty()) reject("." + operand.selector + " is not a part of an operand");
  if (operand.minus) reject("the operand is negated");
}

operand_offset decoding::special(syntax::operand const& operand, type type)
{
  auto const offset = new_register(size_of(type));
  if (!emit_special(*this, operand.name, offset, size_of(type)))
    refuse("unknown special register " + operand.name);
  return offset;
}

operand_offset decoding::address(syntax::operand const& operand, type type)
{
  auto const width = size_of(type);
  if (width < 4) reject("an address in 16 bits");
  auto const offset = static_cast<std::uint64_t>(operand.offset);
  if (operand.kind == operand_kind::symbol) {
    auto const* const meaning = find(operand.name);
    if (meaning == nullptr) refuse(operand.name + " is not declared");
    return constant(address_of(*meaning) + offset + element_offset(operand, *meaning), width);
  }
  if (is_kernel_parameter(operand.index))
    return constant(k_parameter_window + local_offsets_[operand.index] + offset, width);
  for (auto const* const inner : {&places_.addresses->inner, &places_.shared.inner})
    if (auto const entry = inner->find({index_, operand.index}); entry != inner->end())
      return constant(entry->second + offset, width);
  auto const result = new_register(width);
  emit_local_address(*this, local_offsets_[operand.index] + offset, result, width);
  return result;
}

/// The bytes from the start of an array to the element `name[3]`.
std::uint64_t decoding::element_offset(syntax::operand const& operand, entity const& entity) const
{
  if (!operand.is_element) return 0;
  if (entity.kind != entity_kind::variable) refuse("an element of what is no array");
  auto const size = size_of(modules_.variables[entity.index].syntax->type);
  return static_cast<std::uint64_t>(operand.element) * size;
}

std::uint64_t decoding::address_of(entity const& entity)
{
  switch (entity.kind) {
    case entity_kind::variable: {
      auto const& variable = *modules_.variables[entity.index].syntax;
      if (variable.is_reference)
        refuse_feature("references to textures and surfaces, as " + variable.name + " is");
      auto const shared = places_.shared.variables.find(entity.index);
      return shared != places_.shared.variables.end() ? shared->second
                                                      : places_.addresses->variables[entity.index];
    }
    case entity_kind::dynamic_shared:
      return places_.shared.bytes;
    case entity_kind::function:
      refer_to(entity.index);
      return k_function_window + entity.index * k_function_stride;
    case entity_kind::builtin:
      break;
  }
  refuse("the address of a built-in function");
}

std::optional<std::uint64_t> decoding::upper_half_of(space space) const
{
  constexpr std::uint64_t k_upper = ~std::uint64_t{0xFFFFFFFF};
  if (space == space::local) return k_local_window;
  if (space != space::constant) return {};
  std::optional<std::uint64_t> upper;
  for (std::size_t i = 0; i < modules_.variables.size(); ++i) {
    if (modules_.variables[i].syntax->space != space::constant) continue;
    auto const found = places_.addresses->variables[i] & k_upper;
    if (upper && *upper != found) return {};
    upper = found;
  }
  return upper;
}

void decoding::refer_to(unsigned function_index)
{
  if (references_.insert(function_index).second) code_.references.push_back(function_index);
}

operand_offset decoding::destination(syntax::operand const& operand, type type)
{
  auto const width = register_width(type);
  if (operand.kind == operand_kind::sink) return new_register(width);
  if (operand.kind != operand_kind::register_) reject("the destination is not a register");
  reject_part(operand);
  auto const& declared = function_.registers[operand.index];
  if (declared.type == type::pred || register_width(declared.type) != width)
    reject(declared.name + " is of another width");
  return register_at(operand.index);
}

std::uint32_t decoding::predicate(std::size_t index)
{
  return predicate(operand(index));
}

std::uint32_t decoding::predicate(syntax::operand const& operand)
{
  if (operand.kind == operand_kind::integer) return operand.bits != 0 ? k_true : k_false;
  if (operand.kind == operand_kind::special) {
    auto const result = emit_special_predicate(*this, operand.name);
    if (result == k_no_operand) refuse("unknown special register " + operand.name);
    return result;
  }
  if (operand.kind != operand_kind::register_) reject("the operand is not a predicate");
  return predicate_at(operand.index) + (operand.negated ? 1 : 0);
}

std::uint32_t decoding::predicate_destination(syntax::operand const& operand)
{
  if (operand.kind == operand_kind::sink) return code_.predicates++ * 2;
  if (operand.kind != operand_kind::register_ || operand.negated)
    reject("the destination is not a predicate");
  return predicate_at(operand.index);
}

std::uint64_t decoding::integer(std::size_t index) const
{
  if (operand(index).kind != operand_kind::integer) refuse("the operand is not a constant");
  return operand(index).bits;
}

unsigned decoding::width_of(syntax::operand const& operand) const
{
  return is_register(operand) ? size_of(function_.registers[operand.index].type) : 0;
}

}  // namespace fatlink::interpreter
