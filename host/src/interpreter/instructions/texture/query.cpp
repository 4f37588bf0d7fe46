// SPDX-License-Identifier: Apache-2.0
// txq and suq: attributes of a texture or surface. Source: PTX ISA 9.0, "txq", "suq".
#include <array>
#include <cstdint>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/texture/bound_image.hpp"
#include "interpreter/instructions/texture/sample_place.hpp"

namespace fatlink::interpreter {
namespace {

enum class attribute : std::uint32_t {
  width,
  height,
  depth,
  array_size,
  num_mipmap_levels,
  num_samples,
  normalized_coords,
  filter_mode,
  addr_mode_0,
  addr_mode_1,
  addr_mode_2
};

constexpr auto k_attributes = std::to_array<char const*>(
    {"width", "height", "depth", "array_size", "num_mipmap_levels", "num_samples",
     "normalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"});

constexpr std::uint32_t k_of_surface = 1U << 8;  // in operation::flags, above the attribute

/// wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border
std::uint32_t number_of(address_mode mode) noexcept
{
  switch (mode) {
    case address_mode::wrap:
      return 0;
    case address_mode::mirror:
      return 1;
    case address_mode::clamp:
      return 3;
    case address_mode::border:
      break;
  }
  return 4;
}

/// The size of a dimension. PTX leaves open that of one which the image does not have.
std::uint64_t size_of_dimension(warp const& w, operation const& o, std::uint64_t size,
                                unsigned lane)
{
  if (size == 0)
    fail_texel(w, "the object does not have this dimension", lane, o,
               "pass an object that has it (array_shape), or fix the device code");
  return size;
}

std::uint64_t layer_count(warp const& w, operation const& o, image_layout const& layout,
                          unsigned lane)
{
  if (layout.is_cube) fail_texel(w, "PTX does not define the size of an array of cubes", lane, o);
  return layout.layers;
}

std::uint64_t value_of(warp const& w, operation const& o, bound_image const& image, unsigned lane)
{
  auto const& layout = image.layout();
  auto const& sampler = image.sampler();
  auto const attribute = static_cast<interpreter::attribute>(o.flags & 0xFFU);
  switch (attribute) {
    case attribute::width:
      return layout.width;
    case attribute::height:
      return size_of_dimension(w, o, layout.height, lane);
    case attribute::depth:
      return size_of_dimension(w, o, layout.depth, lane);
    case attribute::array_size:
      return layer_count(w, o, layout, lane);
    case attribute::num_mipmap_levels:
    case attribute::num_samples:
      return 0;
    case attribute::normalized_coords:
      return sampler.has_normalized_coordinates ? 1 : 0;
    case attribute::filter_mode:
      return sampler.is_linear_filter ? 1 : 0;
    case attribute::addr_mode_0:
    case attribute::addr_mode_1:
    case attribute::addr_mode_2:
      break;
  }
  auto const index =
      static_cast<unsigned>(attribute) - static_cast<unsigned>(attribute::addr_mode_0);
  return number_of(axis_of(layout, sampler, index).mode);
}

void query(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const kind = (o.flags & k_of_surface) != 0 ? object_kind::surface : object_kind::texture;
  auto const find = [&](unsigned lane) { return find_image(w, o, kind, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    store(d, lane, static_cast<std::uint32_t>(value_of(w, o, image, lane)));
  });
}

/// `count`: of the attributes that the instruction can query.
attribute take_attribute(decoding& d, std::size_t count)
{
  for (std::size_t i = 0; i < count; ++i)
    if (d.take(k_attributes[i])) return static_cast<attribute>(i);
  for (auto const* const name :
       {"channel_data_type", "channel_order", "memory_layout", "force_unnormalized_coords"})
    if (d.take(name)) d.refuse("PTX does not define ." + std::string(name) + " of an object");
  d.refuse("no modifier is a known attribute");
}

template <bool Surface>
void decode_query(decoding& d)
{
  constexpr std::size_t k_of_sizes = static_cast<std::size_t>(attribute::num_mipmap_levels);
  auto const type = d.take_type();
  if (type != type::b32) d.refuse("not a supported type");
  auto const has_level = !Surface && d.take("level");
  auto const attribute = take_attribute(d, Surface ? k_of_sizes : k_attributes.size());
  d.expect_count(has_level ? 3 : 2, has_level ? 3 : 2);
  if (has_level && d.integer(2) != 0) d.refuse("textures have level 0 only");
  auto const& object = d.operand(1);
  if (object.kind != syntax::operand_kind::address || object.parts.size() != 1 ||
      object.offset != 0)
    d.refuse("no object");
  auto const handle = d.source(object.parts[0], type::b64);
  auto const result = d.destination(0, type);
  auto& o = d.emit(&query);
  o.a = handle;
  o.d = result;
  o.flags = static_cast<std::uint32_t>(attribute) | (Surface ? k_of_surface : 0U);
}

}  // namespace

void add_texture_queries(decode_table& table)
{
  table["txq"] = &decode_query<false>;
  table["suq"] = &decode_query<true>;
}

}  // namespace fatlink::interpreter
