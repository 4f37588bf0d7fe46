// SPDX-License-Identifier: Apache-2.0
// What tex and tld4 have in common: destinations, coordinates, offsets, and the texture.
// Source: PTX ISA 9.0, "tex", "tld4".
#pragma once

#include <cstdint>

#include "interpreter/instructions/texture/texture_operand.hpp"
#include "interpreter/instructions/texture/texture_view.hpp"

namespace fatlink::interpreter {

/// What the destination's registers hold: four of 32 or 16 bits, or two of two halves.
enum class sample_type : std::uint32_t { floats, integers, halves, half_pairs };

struct sampling_form {
  geometry shape = geometry::line;
  sample_type result = sample_type::floats;
  bool has_integer_coordinates = false;
  unsigned component = 0;        ///< of tld4: 0 to 3
  std::size_t next_operand = 2;  ///< after the texture and the level
};

/// Takes .v4.f32 or another result. @throws failure (refused).
sample_type take_sample_type(decoding& d);
/// Adds the operation: d, b and c are lists of the destinations, the coordinates and the offsets,
/// e is the predicate, a the handle.
void emit_sampling(decoding& d, handler run, sampling_form const& form);

/// Which component tld4 reads.
unsigned component_of(operation const& o) noexcept;

/// The texture of a lane's handle. @throws failure (address) it is not one that `o` can read.
texture_view find_texture(warp& w, operation const& o, unsigned lane);
/// The place that a lane's floating-point coordinates name.
sample_point point_of(warp& w, operation const& o, texture_view const& view, unsigned lane);
/// The offset `index` of a lane.
std::int32_t offset_of(warp const& w, operation const& o, unsigned index, unsigned lane);
/// The layer, or 0; checked.
std::uint64_t layer_of(warp& w, operation const& o, texture_view const& view, unsigned lane);
void store_texel(warp const& w, operation const& o, unsigned lane, texel const& value);
/// Sets the predicate of residency: all texels are in memory.
void set_resident(warp& w, operation const& o, lane_mask mask) noexcept;

}  // namespace fatlink::interpreter
