// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/surface_place.hpp"

#include <algorithm>
#include <array>

#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_bounds_at = 4;
constexpr std::uint32_t k_formatted = 1U << 6;

std::uint32_t pack_surface(surface_form const& form) noexcept
{
  return static_cast<std::uint32_t>(form.shape) |
         static_cast<std::uint32_t>(form.bounds) << k_bounds_at |
         (form.is_formatted ? k_formatted : 0U) | form.count << 8 | form.stride << 16;
}

out_of_bounds bounds_of(operation const& o) noexcept
{
  return static_cast<out_of_bounds>(o.flags >> k_bounds_at & 3U);
}

/// x, y, and z or the layer, with the greatest valid value of each.
struct surface_point {
  std::array<std::int64_t, 3> coordinates = {};
  std::array<std::int64_t, 3> last = {};
};

surface_point locate_bytes(warp const& w, operation const& o, image_layout const& layout,
                           unsigned lane, unsigned bytes)
{
  auto const shape = geometry_of(o);
  auto const first = is_layered(shape) ? 1U : 0U;
  auto const x_scale = (o.flags & k_formatted) != 0 ? layout.texels.bytes() : 1U;
  surface_point point;
  for (unsigned i = 0; i < dimensions_of(shape); ++i)
    point.coordinates[i] = static_cast<std::int32_t>(coordinate_of(w, o, first + i, lane));
  if (first != 0) point.coordinates[2] = coordinate_of(w, o, 0, lane);
  point.coordinates[0] *= x_scale;
  point.last = {static_cast<std::int64_t>(layout.width * layout.texels.bytes()) - bytes,
                static_cast<std::int64_t>(std::max<std::uint64_t>(layout.height, 1)) - 1,
                static_cast<std::int64_t>(layout.slices()) - 1};
  return point;
}

[[noreturn]] void fail_bounds(warp const& w, operation const& o, image_layout const& layout,
                              surface_point const& point, unsigned lane, unsigned bytes)
{
  auto text = std::to_string(bytes) + " bytes at byte " + std::to_string(point.coordinates[0]);
  if (layout.height != 0) text += " of row " + std::to_string(point.coordinates[1]);
  if (layout.depth != 0) text += " of slice " + std::to_string(point.coordinates[2]);
  if (is_layered(geometry_of(o))) text += " of layer " + std::to_string(point.coordinates[2]);
  fail_texel(w, text + " are not in " + extent_of(layout), lane, o);
}

/// Rejects what is narrower than the elements: a register, or a constant float of another width.
void check_element(decoding const& d, syntax::operand const& operand, type element)
{
  using syntax::operand_kind;
  auto const size = size_of(element);
  check_type(d, operand, element);
  if (d.is_register(operand) && d.width_of(operand) < size) d.reject("a register is too narrow");
  if ((operand.kind == operand_kind::real32 && size != 4) ||
      (operand.kind == operand_kind::real64 && size != 8))
    d.reject("a float of another width");
}

}  // namespace

bool take_formatted(decoding& d)
{
  auto const word = d.next_word();
  if (word != "p" && word != "b") d.refuse("neither .b nor .p");
  d.take_next();
  return word == "p";
}

surface_form take_surface_form(decoding& d, bool is_formatted)
{
  surface_form form;
  form.is_formatted = is_formatted;
  form.shape = take_geometry(d);
  if (is_cube(form.shape)) d.reject("surfaces of cubes are accessed as .a2d");
  if (d.take("clamp"))
    form.bounds = out_of_bounds::clamp;
  else if (d.take("zero"))
    form.bounds = out_of_bounds::zero;
  else if (!d.take("trap"))
    d.reject("neither .trap nor .clamp nor .zero");
  return form;
}

unsigned take_vector(decoding& d)
{
  if (d.take("v4")) return 4;
  return d.take("v2") ? 2 : 1;
}

std::vector<operand_offset> take_registers(decoding& d, surface_form& form, type element,
                                           syntax::operand const& operand, bool is_store)
{
  auto const parts = parts_of(d, operand);
  if (parts.size() != form.count) d.reject("the vector has another length");
  if (!is_store) check_kept(d, parts);
  form.stride = std::max(size_of(element), 2U);
  for (auto const& part : parts) form.stride = std::max(form.stride, d.width_of(part));
  auto const type = form.stride == 8 ? type::b64 : form.stride == 4 ? type::b32 : type::b16;
  std::vector<operand_offset> registers;
  for (auto const& part : parts) {
    check_element(d, part, element);
    registers.push_back(is_store ? d.source(part, type) : d.destination(part, type));
  }
  return registers;
}

void take_cache_operator(decoding& d, bool is_store)
{
  constexpr std::array k_of_loads = {"ca", "cg", "cs", "cv"};
  constexpr std::array k_of_stores = {"wb", "cg", "cs", "wt"};
  for (auto const* const word : is_store ? k_of_stores : k_of_loads)
    if (d.take(word)) return;
}

void emit_surface_access(decoding& d, handler run, surface_form const& form,
                         syntax::operand const& texel_place,
                         std::vector<operand_offset> const& registers, unsigned bytes)
{
  auto const place = take_texel(d, texel_place, form.shape, type::s32);
  auto const coordinates = d.add_list(place.coordinates);
  auto const list = d.add_list(registers);
  auto& o = d.emit(run);
  o.a = place.handle;
  o.b = coordinates;
  o.d = list;
  o.flags = pack_surface(form);
  o.immediate = bytes;
}

bound_image find_surface(warp& w, operation const& o, unsigned lane)
{
  auto const image = find_shaped_image(w, o, object_kind::surface, lane);
  if (!image.layout().allows_surface)
    fail_texel(w, "the array was made without access as a surface", lane, o,
               "set array_shape::allows_surface when the array is made");
  return image;
}

std::optional<std::uint64_t> surface_address(warp& w, operation const& o, bound_image const& image,
                                             unsigned lane, unsigned bytes)
{
  auto const& layout = image.layout();
  auto point = locate_bytes(w, o, layout, lane, bytes);
  for (unsigned i = 0; i < 3; ++i) {
    auto& coordinate = point.coordinates[i];
    if (coordinate >= 0 && coordinate <= point.last[i]) continue;
    if (bounds_of(o) == out_of_bounds::zero) return std::nullopt;
    if (bounds_of(o) == out_of_bounds::trap || point.last[i] < 0)
      fail_bounds(w, o, layout, point, lane, bytes);
    coordinate = std::clamp<std::int64_t>(coordinate, 0, point.last[i]);
  }
  return image.object->image.address +
         static_cast<std::uint64_t>(point.coordinates[2]) * layout.slice_bytes() +
         static_cast<std::uint64_t>(point.coordinates[1]) * layout.row_bytes +
         static_cast<std::uint64_t>(point.coordinates[0]);
}

}  // namespace fatlink::interpreter
