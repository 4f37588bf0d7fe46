// SPDX-License-Identifier: Apache-2.0
// txq and suq: attributes of a texture or surface. Source: PTX ISA 9.0, "txq", "suq".
#include <array>
#include <cstdint>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/textures/texture_object.hpp"

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

std::uint64_t answer_query(warp const& w, operation const& o, bound_image const& image,
                           unsigned lane)
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
  return number_of(mode_of(layout, sampler, index));
}

constexpr char const* k_one_level = "textures have level 0 only";

void check_level(warp const& w, operation const& o, unsigned lane)
{
  if (o.b == k_no_operand) return;
  auto const level = load<std::uint32_t>(w.at(o.b), lane);
  if (level == 0) return;
  fail_texel(w, "there is no level " + std::to_string(level) + ": " + k_one_level, lane, o);
}

void query(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const kind = (o.flags & k_of_surface) != 0 ? object_kind::surface : object_kind::texture;
  auto const find = [&](unsigned lane) { return find_image(w, o, kind, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    check_level(w, o, lane);
    store(d, lane, static_cast<std::uint32_t>(answer_query(w, o, image, lane)));
  });
}

/// How many of k_attributes the instruction can query.
std::size_t attribute_count(bool is_surface, bool has_level) noexcept
{
  if (has_level) return static_cast<std::size_t>(attribute::array_size);
  return is_surface ? static_cast<std::size_t>(attribute::num_mipmap_levels) : k_attributes.size();
}

attribute take_attribute(decoding& d, std::size_t count)
{
  for (std::size_t i = 0; i < count; ++i)
    if (d.take(k_attributes[i])) return static_cast<attribute>(i);
  for (auto const* const name :
       {"channel_data_type", "channel_order", "memory_layout", "force_unnormalized_coords"})
    if (d.take(name))
      d.fail_unsupported("PTX does not define ." + std::string(name) + " of an object");
  d.fail_unsupported("no modifier is a known attribute");
}

/// The level that is queried; k_no_operand if the instruction states none.
operand_offset take_level(decoding& d, bool has_level)
{
  d.expect_count(has_level ? 3 : 2, has_level ? 3 : 2);
  if (!has_level) return k_no_operand;
  if (!d.is_register(d.operand(2)) && d.integer(2) != 0) d.fail_unsupported(k_one_level);
  return typed_source(d, d.operand(2), type::u32);
}

template <bool Surface>
void decode_query(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::b32) d.fail_unsupported("not a supported type");
  auto const has_level = !Surface && d.next_word() == "level" && d.take("level");
  auto const attribute = take_attribute(d, attribute_count(Surface, has_level));
  auto const level = take_level(d, has_level);
  auto const& object = d.operand(1);
  if (object.kind != syntax::operand_kind::address || object.parts.size() != 1 ||
      object.offset != 0)
    d.fail_unsupported("no object");
  check_kept(d, {d.operand(0)});
  auto const handle = typed_source(d, object.parts[0], type::u64);
  auto const result = d.destination(0, type);
  auto& o = d.emit(&query);
  o.a = handle;
  o.b = level;
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
