// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/textures/texture_object.hpp"

#include <algorithm>
#include <array>

#include "interpreter/execution/block.hpp"
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
  d.fail_unsupported("no modifier is a known geometry");
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
    d.fail_unsupported("no object with coordinates");
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

namespace {

// Failures of instructions on an object that they cannot use. In most of them the host program
// passed the wrong object, and not the device code: the hint names what to change there.

std::string name_of(object_kind kind)
{
  return kind == object_kind::texture ? "texture" : "surface";
}

std::string with_article(geometry shape)
{
  return (is_layered(shape) ? "an " : "a ") + std::string(name_of(shape));
}

struct handle_error {
  char const* description;
  char const* hint_begin;  ///< before the name of the object's kind
  char const* hint_end;
};

handle_error error_of(unknown_handle handle) noexcept
{
  switch (handle) {
    case unknown_handle::null:
      return {"the handle is null", "pass the handle() of a fatlink::",
              " that was not moved from; 0 is the handle of none"};
    case unknown_handle::address:
      return {"the handle is an address",
              "pass the handle() of a fatlink::", ", not the address of memory"};
    case unknown_handle::destroyed:
      return {"the object of the handle was destroyed",
              "keep the fatlink::", " until the kernels that use it have finished"};
    case unknown_handle::foreign:
      break;
  }
  return {"the handle is not of this device",
          "pass the handle() of a fatlink::", " that was made on this device"};
}

/// Fails, as no object has the handle.
[[noreturn]] void fail_unknown_handle(warp const& w, operation const& o, object_kind kind,
                                      std::uint64_t handle, unsigned lane)
{
  auto const error = error_of(classify_handle(*w.launch().objects, handle));
  fail_texel(w, hexadecimal(handle) + " is not a " + name_of(kind) + ": " + error.description, lane,
             o, error.hint_begin + name_of(kind) + error.hint_end);
}

/// Fails, as the handle's object is a surface where a `kind` texture is needed, or the reverse.
[[noreturn]] void fail_kind(warp const& w, operation const& o, object_kind kind,
                            std::uint64_t handle, unsigned lane)
{
  auto const other = kind == object_kind::texture ? object_kind::surface : object_kind::texture;
  fail_texel(w, hexadecimal(handle) + " is a " + name_of(other) + ", not a " + name_of(kind), lane,
             o,
             "pass the handle() of a fatlink::" + name_of(kind) + ", or use it as a " +
                 name_of(other) + " in the device code");
}

/// Fails, as the memory that the object reads is not allocated.
[[noreturn]] void fail_released(warp const& w, operation const& o, object_kind kind, unsigned lane)
{
  fail_texel(w, "the memory of the " + name_of(kind) + " was released", lane, o,
             "keep the array or buffer of the " + name_of(kind) +
                 " until the kernels that use it have finished");
}

/// Fails, as the object has the geometry `shape`, and the instruction states another one.
[[noreturn]] void fail_geometry(warp const& w, operation const& o, object_kind kind, geometry shape,
                                unsigned lane)
{
  auto const stated = geometry_of(o);
  fail_texel(w,
             "the instruction is for " + with_article(stated) + " " + name_of(kind) +
                 ", and the handle is that of " + with_article(shape) + " one",
             lane, o,
             "pass " + with_article(stated) + " " + name_of(kind) +
                 " (array_shape), or fix the device code");
}

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
  w.fail(error_kind::address, reason, lane, o, hint);
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

address_mode mode_of(image_layout const& layout, sampler const& sampler,
                     unsigned dimension) noexcept
{
  auto const mode = sampler.modes[dimension];
  if (sampler.has_normalized_coordinates || layout.is_cube) return mode;
  return mode == address_mode::border ? mode : address_mode::clamp;
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
