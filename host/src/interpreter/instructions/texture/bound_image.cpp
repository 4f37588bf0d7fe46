// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/bound_image.hpp"

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/texture/object_faults.hpp"
#include "interpreter/instructions/texture/texture_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// Whether an instruction that names `stated` reads the image. Surfaces of cubes are layers of 2d.
bool matches_geometry(geometry stated, geometry shape, object_kind kind) noexcept
{
  if (kind == object_kind::surface && is_cube(shape)) return stated == geometry::layered_plane;
  return stated == shape;
}

}  // namespace

void fail_texel(warp const& w, std::string const& reason, unsigned lane, operation const& o,
                std::string const& hint)
{
  w.fail(fault::address, reason, lane, o, hint);
}

bound_image find_image(warp& w, operation const& o, object_kind kind, unsigned lane)
{
  auto const handle = load<std::uint64_t>(w.at(o.a), lane);
  auto const* const object = find_object(*w.launch().objects, handle);
  if (object == nullptr) fail_unknown_handle(w, o, kind, handle, lane);
  if (object->is_surface != (kind == object_kind::surface)) fail_kind(w, o, kind, handle, lane);
  auto const& image = object->image;
  auto const& span = w.span_at(o, image.address);
  auto const bytes = image.layout.bytes();
  auto const offset = image.address - span.begin;
  if (!span.holds(image.address) || span.data == nullptr || bytes > span.bytes - offset)
    fail_released(w, o, kind, lane);
  return {object, span.data + offset};
}

bound_image find_shaped_image(warp& w, operation const& o, object_kind kind, unsigned lane)
{
  auto const image = find_image(w, o, kind, lane);
  auto const shape = image.layout().shape();
  if (!matches_geometry(geometry_of(o), shape, kind)) fail_geometry(w, o, kind, shape, lane);
  return image;
}

void check_layer(warp const& w, operation const& o, bound_image const& image, std::uint32_t layer,
                 unsigned lane)
{
  if (layer >= image.layout().layers)
    fail_texel(w, "layer " + std::to_string(layer) + " is not in " + extent_of(image.layout()),
               lane, o);
}

std::string extent_of(image_layout const& layout)
{
  auto text = "an image of " + std::to_string(layout.width);
  for (auto const size : {layout.height, layout.depth})
    if (size != 0) text += " x " + std::to_string(size);
  text += " texels";
  if (layout.layers != 0) text += " in " + std::to_string(layout.layers) + " layers";
  return text;
}

}  // namespace fatlink::interpreter
