// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/texture_operand.hpp"

#include <array>

namespace fatlink::interpreter {
namespace {

constexpr std::array<char const*, 7> k_names = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};

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

std::vector<syntax::operand> parts_of(syntax::operand const& operand)
{
  if (operand.kind == syntax::operand_kind::vector) return operand.parts;
  return {operand};
}

texel_operand take_texel(decoding& d, syntax::operand const& operand, geometry shape, type type)
{
  if (operand.kind != syntax::operand_kind::texel || operand.parts.size() < 2)
    d.refuse("no object with coordinates");
  if (operand.parts.size() > 2) d.refuse_feature("samplers that are not the texture's");
  if (operand.offset != 0) d.reject("a handle has no offset");
  auto const parts = parts_of(operand.parts[1]);
  auto const count = dimensions_of(shape) + (is_layered(shape) ? 1U : 0U);
  if (parts.size() < count || parts.size() > 4)
    d.reject("a geometry of " + std::to_string(count) + " coordinates, given " +
             std::to_string(parts.size()));
  texel_operand result;
  result.handle = d.source(operand.parts[0], type::b64);
  for (unsigned i = 0; i < count; ++i)
    result.coordinates.push_back(
        d.source(parts[i], i == 0 && is_layered(shape) ? type::u32 : type));
  return result;
}

}  // namespace fatlink::interpreter
