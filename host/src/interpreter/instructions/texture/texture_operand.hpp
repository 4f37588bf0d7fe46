// SPDX-License-Identifier: Apache-2.0
// What instructions on textures and surfaces have in common: the geometry that they name, and the
// operand [object, {coordinates}]. Source: PTX ISA 9.0, "Texture Instructions", "Surface
// Instructions".
#pragma once

#include <optional>
#include <vector>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/textures.hpp"

namespace fatlink::interpreter {

/// Takes the geometry, ".a2d". @throws failure (refused) there is none, or multi-sample textures.
geometry take_geometry(decoding& d);

/// "a2d".
char const* name_of(geometry shape) noexcept;

constexpr bool is_layered(geometry shape) noexcept
{
  return shape == geometry::layered_line || shape == geometry::layered_plane ||
         shape == geometry::layered_cube;
}

constexpr bool is_cube(geometry shape) noexcept
{
  return shape == geometry::cube || shape == geometry::layered_cube;
}

/// Coordinates within an image or a layer: 3 for the direction of a cube.
constexpr unsigned dimensions_of(geometry shape) noexcept
{
  if (shape == geometry::line || shape == geometry::layered_line) return 1;
  return shape == geometry::plane || shape == geometry::layered_plane ? 2 : 3;
}

struct texel_operand {
  operand_offset handle = k_no_operand;
  std::vector<operand_offset> coordinates = {};  ///< the layer first
};

/// Decodes [object, {coordinates}]; coordinates that the geometry does not have are ignored.
texel_operand take_texel(decoding& d, syntax::operand const& operand, geometry shape, type type);

/// A vector's parts; an operand that is none is its own part. Rejects vectors of 3 or more than 4
/// parts, which PTX does not have.
std::vector<syntax::operand> parts_of(decoding const& d, syntax::operand const& operand);

/// Whether an operand is a register or constant of a float.
bool holds_float(decoding const& d, syntax::operand const& operand);

/// Rejects a result of which no part is kept.
void check_kept(decoding const& d, std::vector<syntax::operand> const& results);

/// As decoding::source, but rejects floats where `type` is an integer, and constant integers where
/// it is a float, as ptxas does. Registers of .b32 and .b64 fit every type of their width.
operand_offset typed_source(decoding& d, syntax::operand const& operand, type type);
void check_type(decoding const& d, syntax::operand const& operand, type type);

/// In operation::flags: the geometry, and above it what a handler needs.
constexpr std::uint32_t k_geometry_bits = 4;
constexpr geometry geometry_of(operation const& o) noexcept
{
  return static_cast<geometry>(o.flags & ((1U << k_geometry_bits) - 1));
}

/// The coordinate `index` of a lane, as the integer that it is or as its bits. operation::b is the
/// list of the coordinates.
std::uint32_t coordinate_of(warp const& w, operation const& o, unsigned index, unsigned lane);

}  // namespace fatlink::interpreter
