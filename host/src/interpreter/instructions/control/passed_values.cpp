// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/control/passed_values.hpp"

namespace fatlink::interpreter {

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

}  // namespace fatlink::interpreter
