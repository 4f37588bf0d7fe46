// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/texture_operand.hpp"

#include <algorithm>
#include <array>

#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::array<char const*, 7> k_names = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};

constexpr bool is_untyped(type type) noexcept
{
  return type == type::b8 || type == type::b16 || type == type::b32 || type == type::b64;
}

}  // namespace

char const* name_of(geometry shape) noexcept
{
  return k_names[static_cast<std::size_t>(shape)];
}

geometry take_geometry(decoding& d)
{
  for (std::size_t i = 0; i < k_names.size(); ++i)
    if (d.take(k_names[i])) return static_cast<geometry>(i);
  if (d.take("2dms") || d.take("a2dms")) d.refuse_feature("multi-sample textures");
  d.refuse("no modifier is a known geometry");
}

std::vector<syntax::operand> parts_of(decoding const& d, syntax::operand const& operand)
{
  if (operand.kind != syntax::operand_kind::vector) return {operand};
  auto const size = operand.parts.size();
  if (size != 1 && size != 2 && size != 4)
    d.reject("a vector of " + std::to_string(size) + " operands");
  return operand.parts;
}

bool holds_float(decoding const& d, syntax::operand const& operand)
{
  using syntax::operand_kind;
  if (d.is_register(operand)) return is_float(d.function().registers[operand.index].type);
  return operand.kind == operand_kind::real32 || operand.kind == operand_kind::real64;
}

void check_kept(decoding const& d, std::vector<syntax::operand> const& results)
{
  auto const is_sink = [](auto const& part) { return part.kind == syntax::operand_kind::sink; };
  if (std::ranges::all_of(results, is_sink)) d.reject("the result is discarded");
}

void check_type(decoding const& d, syntax::operand const& operand, type type)
{
  if (is_untyped(type)) return;
  if (is_float(type) && operand.kind == syntax::operand_kind::integer)
    d.reject("an integer where the instruction has a float");
  if (!is_float(type) && holds_float(d, operand))
    d.reject("a float where the instruction has an integer");
}

operand_offset typed_source(decoding& d, syntax::operand const& operand, type type)
{
  check_type(d, operand, type);
  return d.source(operand, type);
}

texel_operand take_texel(decoding& d, syntax::operand const& operand, geometry shape, type type)
{
  if (operand.kind != syntax::operand_kind::texel || operand.parts.size() < 2)
    d.refuse("no object with coordinates");
  if (operand.parts.size() > 2) d.refuse_feature("samplers that are not the texture's");
  if (operand.offset != 0) d.reject("a handle has no offset");
  auto const parts = parts_of(d, operand.parts[1]);
  auto const count = dimensions_of(shape) + (is_layered(shape) ? 1U : 0U);
  if (parts.size() < count)
    d.reject("a geometry of " + std::to_string(count) + " coordinates, given " +
             std::to_string(parts.size()));
  texel_operand result;
  result.handle = typed_source(d, operand.parts[0], type::u64);
  for (unsigned i = 0; i < parts.size(); ++i) {
    auto const part_type = i == 0 && is_layered(shape) ? type::u32 : type;
    if (i < count)
      result.coordinates.push_back(typed_source(d, parts[i], part_type));
    else
      check_type(d, parts[i], part_type);
  }
  return result;
}

std::uint32_t coordinate_of(warp const& w, operation const& o, unsigned index, unsigned lane)
{
  auto const list = w.current().code->lists[o.b + index];
  return load<std::uint32_t>(w.at(list), lane);
}

}  // namespace fatlink::interpreter
