// SPDX-License-Identifier: Apache-2.0
// Decodes the operands of tex and tld4.
#include "interpreter/instructions/texture/sampling.hpp"

namespace fatlink::interpreter {
namespace {

using syntax::operand_kind;

type register_type(sample_type result) noexcept
{
  return result == sample_type::halves ? type::b16 : type::b32;
}

/// Whether `operand` is the depth that texels are compared with, and not a vector of offsets.
bool is_depth(decoding const& d, syntax::operand const& operand, geometry shape)
{
  if (operand.kind == operand_kind::vector) return false;
  return dimensions_of(shape) > 1 || holds_float(d, operand);
}

/// The list of the offsets; k_no_operand if there are none.
operand_offset take_offsets(decoding& d, sampling_form const& form)
{
  d.expect_count(form.next_operand, form.next_operand + 2);
  if (d.count() == form.next_operand) return k_no_operand;
  auto const& operand = d.operand(form.next_operand);
  if (d.count() == form.next_operand + 2 || is_depth(d, operand, form.shape))
    d.refuse_feature("comparisons of depth textures");
  if (is_cube(form.shape)) d.reject("a cube has no offsets");
  auto const parts = parts_of(d, operand);
  if (parts.size() < dimensions_of(form.shape)) d.reject("too few offsets");
  std::vector<operand_offset> offsets;
  for (unsigned i = 0; i < dimensions_of(form.shape); ++i)
    offsets.push_back(typed_source(d, parts[i], type::s32));
  return d.add_list(offsets);
}

/// PTX takes registers of integers for floats, but not the reverse.
void check_result(decoding const& d, syntax::operand const& part, sample_type result)
{
  if (result == sample_type::integers) check_type(d, part, type::s32);
  if (result == sample_type::half_pairs && d.is_register(part) &&
      d.function().registers[part.index].type == type::f32)
    d.reject("a float of 32 bits where the instruction has two halves");
}

operand_offset take_sample_results(decoding& d, syntax::operand const& operand, sample_type result)
{
  auto const count = result == sample_type::half_pairs ? 2U : 4U;
  if (operand.kind != operand_kind::vector || operand.parts.size() != count)
    d.reject("the destination is not a vector of " + std::to_string(count) + " registers");
  check_kept(d, operand.parts);
  std::vector<operand_offset> registers;
  for (auto const& part : operand.parts) {
    check_result(d, part, result);
    registers.push_back(d.destination(part, register_type(result)));
  }
  return d.add_list(registers);
}

std::uint32_t pack_sampling(sampling_form const& form) noexcept
{
  return static_cast<std::uint32_t>(form.shape) |
         static_cast<std::uint32_t>(form.result) << k_geometry_bits | form.component << 8;
}

}  // namespace

sample_type take_sample_type(decoding& d)
{
  auto const type = d.take_type();
  auto const is_pair = type == type::f16x2;
  if (!d.take(is_pair ? "v2" : "v4")) d.refuse("not a supported vector");
  switch (type) {
    case type::f32:
      return sample_type::floats;
    case type::u32:
    case type::s32:
      return sample_type::integers;
    case type::f16:
      return sample_type::halves;
    case type::f16x2:
      return sample_type::half_pairs;
    default:
      d.refuse("not a supported type");
  }
}

void emit_sampling(decoding& d, handler run, sampling_form const& form)
{
  auto const& first = d.operand(0);
  auto const has_predicate = first.kind == operand_kind::pair;
  auto const offsets = take_offsets(d, form);
  auto const place =
      take_texel(d, d.operand(1), form.shape, form.has_integer_coordinates ? type::s32 : type::f32);
  auto const results = take_sample_results(d, has_predicate ? first.parts[0] : first, form.result);
  auto const predicate = has_predicate ? d.predicate_destination(first.parts[1]) : k_no_operand;
  auto const coordinates = d.add_list(place.coordinates);
  auto& o = d.emit(run);
  o.a = place.handle;
  o.b = coordinates;
  o.c = offsets;
  o.d = results;
  o.e = predicate;
  o.flags = pack_sampling(form);
}

}  // namespace fatlink::interpreter
