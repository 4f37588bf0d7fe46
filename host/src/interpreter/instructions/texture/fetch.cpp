// SPDX-License-Identifier: Apache-2.0
// tex: reads a texture at floating-point coordinates, filtered as its object states, or one texel
// at integer coordinates. Textures have one level, so that a level or gradient chooses nothing.
// Source: PTX ISA 9.0, "tex"; CUDA Programming Guide 13.0, "Texture Fetching".
#include "interpreter/instructions/texture/sampling.hpp"

namespace fatlink::interpreter {
namespace {

void sample(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) {
    auto const view = find_texture(w, o, lane);
    if (view.image().layout().is_linear)
      fail_texel(w, "a texture of linear memory has integer coordinates (tex1Dfetch)", lane, o,
                 "pass a texture of an array, or read it with tex1Dfetch");
    return view;
  };
  each_image(w, o, mask, find, [&](texture_view const& view, unsigned lane) {
    store_texel(w, o, lane, view.sample(point_of(w, o, view, lane), lane));
  });
  set_resident(w, o, mask);
}

struct texel_index {
  std::array<std::int64_t, 3> index = {};
  bool is_inside = true;
};

texel_index index_of(warp& w, operation const& o, image_layout const& layout, unsigned lane)
{
  auto const first = is_layered(geometry_of(o)) ? 1U : 0U;
  std::array const sizes{layout.width, layout.height, layout.depth};
  texel_index result;
  for (unsigned i = 0; i < dimensions_of(geometry_of(o)); ++i) {
    auto const coordinate = static_cast<std::int32_t>(coordinate_of(w, o, first + i, lane));
    result.index[i] = std::int64_t{coordinate} + offset_of(w, o, i, lane);
    result.is_inside &=
        result.index[i] >= 0 && static_cast<std::uint64_t>(result.index[i]) < sizes[i];
  }
  return result;
}

/// Linear memory reads 0 out of bounds, as on a GPU.
void fetch(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_texture(w, o, lane); };
  each_image(w, o, mask, find, [&](texture_view const& view, unsigned lane) {
    auto const& layout = view.image().layout();
    auto const place = index_of(w, o, layout, lane);
    if (place.is_inside)
      return store_texel(w, o, lane, view.at(place.index, layer_of(w, o, view, lane), lane));
    if (layout.is_linear) return store_texel(w, o, lane, {});
    auto text = std::to_string(place.index[0]);
    for (unsigned i = 1; i < dimensions_of(geometry_of(o)); ++i)
      text += ", " + std::to_string(place.index[i]);
    fail_texel(w, "the texel (" + text + ") is not in " + extent_of(layout), lane, o);
  });
  set_resident(w, o, mask);
}

/// Takes .base, .level or .grad, which follow the name.
std::string_view take_level_word(decoding& d)
{
  for (auto const* const word : {"base", "level", "grad"})
    if (d.next_word() == word) return d.take_next();
  return {};
}

void check_gradient(decoding& d, syntax::operand const& gradient, geometry shape)
{
  if (gradient.kind != syntax::operand_kind::vector) d.reject("a gradient is a vector");
  auto const count = dimensions_of(shape) == 3 ? 4 : dimensions_of(shape);
  if (gradient.parts.size() != count)
    d.reject("a gradient of " + std::to_string(gradient.parts.size()) + " operands, not " +
             std::to_string(count));
  for (auto const& part : gradient.parts) (void)typed_source(d, part, type::f32);
}

/// Level and gradients are checked, and unused. Returns the operand after them.
std::size_t skip_level(decoding& d, std::string_view word, geometry shape, type coordinates)
{
  if (word == "level") {
    (void)typed_source(d, d.operand(2), coordinates);
    return 3;
  }
  if (word != "grad") return 2;
  for (auto const index : {2U, 3U}) check_gradient(d, d.operand(index), shape);
  return 4;
}

void decode_tex(decoding& d)
{
  auto const level = take_level_word(d);
  auto const coordinates = d.take_type();
  if (coordinates != type::f32 && coordinates != type::s32) d.refuse("not a supported type");
  sampling_form form;
  form.has_integer_coordinates = coordinates == type::s32;
  form.result = take_sample_type(d);
  form.shape = take_geometry(d);
  if (form.has_integer_coordinates && is_cube(form.shape))
    d.reject("a cube has floating-point coordinates");
  form.next_operand = skip_level(d, level, form.shape, coordinates);
  emit_sampling(d, form.has_integer_coordinates ? &fetch : &sample, form);
}

}  // namespace

void add_texture_fetches(decode_table& table)
{
  table["tex"] = &decode_tex;
}

}  // namespace fatlink::interpreter
