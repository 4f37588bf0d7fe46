// SPDX-License-Identifier: Apache-2.0
// Executes what tex and tld4 have in common.
#include "interpreter/instructions/texture/sampling.hpp"

#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

operand_offset const* list_at(warp const& w, operand_offset index) noexcept
{
  return w.current().code->lists.data() + index;
}

sample_type result_of(operation const& o) noexcept
{
  return static_cast<sample_type>(o.flags >> k_geometry_bits & 15U);
}

std::uint16_t round_to_half(std::uint32_t bits) noexcept
{
  return half_float::round_to_nearest<half_float::binary16>(std::bit_cast<float>(bits)).bits;
}

std::uint32_t pack_halves(std::uint32_t low, std::uint32_t high) noexcept
{
  return round_to_half(low) | std::uint32_t{round_to_half(high)} << 16;
}

}  // namespace

unsigned component_of(operation const& o) noexcept
{
  return o.flags >> 8 & 3U;
}

texture_view find_texture(warp& w, operation const& o, unsigned lane)
{
  texture_view const view(w, o, find_shaped_image(w, o, object_kind::texture, lane));
  auto const reads_integers = result_of(o) == sample_type::integers;
  if (reads_integers && view.reads_floats())
    fail_texel(w, "the instruction reads integers, and the texture has floating-point numbers",
               lane, o,
               "pass a texture of integers without texture_options::reads_normalized, or fix the "
               "device code");
  if (!reads_integers && !view.reads_floats())
    fail_texel(w, "the instruction reads floating-point numbers, and the texture has integers",
               lane, o,
               "set texture_options::reads_normalized, pass a texture of f16 or f32, or fix the "
               "device code");
  return view;
}

std::int32_t offset_of(warp const& w, operation const& o, unsigned index, unsigned lane)
{
  if (o.c == k_no_operand) return 0;
  auto const offset = load<std::int32_t>(w.at(list_at(w, o.c)[index]), lane);
  if (offset < -8 || offset > 7)
    fail_texel(w, "the offset " + std::to_string(offset) + " is not in -8 to 7", lane, o);
  return offset;
}

std::uint64_t layer_of(warp& w, operation const& o, texture_view const& view, unsigned lane)
{
  if (!is_layered(geometry_of(o))) return 0;
  auto const layer = coordinate_of(w, o, 0, lane);
  check_layer(w, o, view.image(), layer, lane);
  return layer;
}

sample_point point_of(warp& w, operation const& o, texture_view const& view, unsigned lane)
{
  auto const shape = geometry_of(o);
  auto const first = is_layered(shape) ? 1U : 0U;
  sample_point point;
  point.slice = layer_of(w, o, view, lane);
  for (unsigned i = 0; i < dimensions_of(shape); ++i) {
    point.coordinates[i] = std::bit_cast<float>(coordinate_of(w, o, first + i, lane));
    if (!is_cube(shape)) point.offsets[i] = offset_of(w, o, i, lane);
  }
  if (!is_cube(shape)) return point;
  auto const& direction = point.coordinates;
  auto const place = on_cube(direction[0], direction[1], direction[2]);
  point.coordinates = {place.s, place.t, 0};
  point.slice = point.slice * 6 + place.face;
  return point;
}

void store_texel(warp const& w, operation const& o, unsigned lane, texel const& value)
{
  auto const* const registers = list_at(w, o.d);
  switch (result_of(o)) {
    case sample_type::halves:
      for (unsigned i = 0; i < 4; ++i)
        store<std::uint16_t>(w.at(registers[i]), lane, round_to_half(value[i]));
      return;
    case sample_type::half_pairs:
      for (unsigned i = 0; i < 2; ++i)
        store<std::uint32_t>(w.at(registers[i]), lane, pack_halves(value[2 * i], value[2 * i + 1]));
      return;
    case sample_type::floats:
    case sample_type::integers:
      break;
  }
  for (unsigned i = 0; i < 4; ++i) store<std::uint32_t>(w.at(registers[i]), lane, value[i]);
}

void set_resident(warp& w, operation const& o, lane_mask mask) noexcept
{
  if (o.e != k_no_operand) w.set_predicate(o.e, mask, mask);
}

}  // namespace fatlink::interpreter
