// SPDX-License-Identifier: Apache-2.0
// Surfaces: suld.b, sust.b and sust.p, sured. x counts bytes in suld.b, sust.b and sured.b, and
// texels in sust.p and sured.p. Source: PTX ISA 9.0, "Surface Instructions".
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/access.hpp"
#include "interpreter/instructions/memory/atomic.hpp"
#include "interpreter/instructions/textures/texture_object.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// Where in the device's memory an instruction accesses a surface.

/// What an access out of bounds does: fail, access the nearest place, or read 0 and write nothing.
enum class out_of_bounds : std::uint32_t { trap, clamp, zero };

struct surface_form {
  geometry shape = geometry::line;
  out_of_bounds bounds = out_of_bounds::trap;
  bool is_formatted = false;  ///< .p
  unsigned count = 1;         ///< registers
  unsigned stride = 4;        ///< bytes of a lane of each register
};

inline unsigned register_count(operation const& o) noexcept
{
  return o.flags >> 8 & 0xFFU;
}

inline unsigned register_stride(operation const& o) noexcept
{
  return o.flags >> 16 & 0xFFU;
}

inline operand_offset register_at(warp const& w, operation const& o, unsigned index) noexcept
{
  return w.current().code->lists[o.d + index];
}

/// What a lane has in a register.
template <typename T>
T register_value(warp const& w, operation const& o, unsigned index, unsigned lane) noexcept
{
  T value;
  std::memcpy(&value, w.at(register_at(w, o, index)) + lane * register_stride(o), sizeof value);
  return value;
}

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

/// Takes .b or .p, which follow the name; true: .p.
bool take_formatted(decoding& d)
{
  auto const word = d.next_word();
  if (word != "p" && word != "b") d.fail_unsupported("neither .b nor .p");
  d.take_next();
  return word == "p";
}

/// Takes the geometry and .trap, .clamp or .zero.
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

/// Takes .v2 or .v4.
unsigned take_vector(decoding& d)
{
  if (d.take("v4")) return 4;
  return d.take("v2") ? 2 : 1;
}

/// Takes form.count registers of `element`, and their stride. They may be wider, as those of ld and
/// st.
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

/// Takes the cache operator of a store or load, which has no effect.
void take_cache_operator(decoding& d, bool is_store)
{
  constexpr std::array k_of_loads = {"ca", "cg", "cs", "cv"};
  constexpr std::array k_of_stores = {"wb", "cg", "cs", "wt"};
  for (auto const* const word : is_store ? k_of_stores : k_of_loads)
    if (d.take(word)) return;
}

/// Adds the operation: a is the handle, b a list of the coordinates, d a list of `registers`;
/// immediate: `bytes` of the access.
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

/// The surface of a lane's handle. @throws code_error (address) it is not one that `o` accesses.
bound_image find_surface(warp& w, operation const& o, unsigned lane)
{
  auto const image = find_shaped_image(w, o, object_kind::surface, lane);
  if (!image.layout().allows_surface)
    fail_texel(w, "the array was made without access as a surface", lane, o,
               "set array_shape::allows_surface when the array is made");
  return image;
}

/// The device's address of a lane's access of `bytes`; nothing where it is out of bounds and .zero.
/// @throws code_error (address) out of bounds and .trap.
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

// sust.p: texels of a surface, converted to its format.

/// Whether an integer of 32 bits is one of the channel's format.
bool fits_channel(texel_layout layout, std::uint32_t value) noexcept
{
  if (layout.bits == 32) return true;
  if (layout.kind == texel_kind::unsigned_integer) return value >> layout.bits == 0;
  auto const number = static_cast<std::int64_t>(static_cast<std::int32_t>(value));
  auto const limit = std::int64_t{1} << (layout.bits - 1);
  return number >= -limit && number < limit;
}

std::uint32_t channel_of(texel_layout layout, std::uint32_t value) noexcept
{
  if (layout.kind != texel_kind::floating || layout.bits == 32) return value;
  return half_float::round_to_nearest<half_float::binary16>(std::bit_cast<float>(value)).bits;
}

void store_channel(std::byte* target, std::byte const* value, unsigned bytes) noexcept
{
  if (bytes == 1) return store_element<std::uint8_t>(target, value);
  if (bytes == 2) return store_element<std::uint16_t>(target, value);
  store_element<std::uint32_t>(target, value);
}

/// The texel that a lane writes. PTX leaves open channels without a source, and integers that the
/// format does not have.
std::array<std::byte, 16> texel_of(warp const& w, operation const& o, texel_layout layout,
                                   unsigned lane)
{
  if (register_count(o) < layout.channels)
    fail_texel(w,
               "the surface has " + std::to_string(layout.channels) + " channels, and " +
                   std::to_string(register_count(o)) + " are written",
               lane, o, "pass a surface with that many channels, or fix the device code");
  std::array<std::byte, 16> bytes = {};
  for (unsigned i = 0; i < layout.channels; ++i) {
    auto const value = register_value<std::uint32_t>(w, o, i, lane);
    if (layout.kind != texel_kind::floating && !fits_channel(layout, value))
      fail_texel(w,
                 "the value " + std::to_string(value) + " does not fit in " +
                     std::to_string(layout.bits) + " bits",
                 lane, o);
    auto const channel = channel_of(layout, value);
    std::memcpy(bytes.data() + i * (layout.bits / 8), &channel, layout.bits / 8);
  }
  return bytes;
}

void store_texels(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const layout = image.layout().texels;
    auto const address = surface_address(w, o, image, lane, layout.bytes());
    if (!address) return;
    auto const bytes = texel_of(w, o, layout, lane);
    auto* const target = w.resolve(*address, layout.bytes(), lane, o, true);
    if (w.checks_accesses()) w.record_write(target, layout.bytes(), lane, o, bytes.data());
    for (unsigned i = 0; i < layout.bytes(); i += layout.bits / 8)
      store_channel(target + i, bytes.data() + i, layout.bits / 8);
  });
}

void decode_formatted_store(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  if (d.take_type() != type::b32) d.fail_unsupported("not a supported type");
  auto form = take_surface_form(d, is_formatted);
  take_cache_operator(d, true);
  form.count = take_vector(d);
  d.expect_count(2, 2);
  auto const registers = take_registers(d, form, type::b32, d.operand(1), true);
  emit_surface_access(d, &store_texels, form, d.operand(0), registers, 0);
}

// sured: atomic operations on a surface.

/// Calls use(image, element, lane) for each lane whose access is in bounds.
template <typename T, typename Use>
void each_element(warp& w, operation const& o, lane_mask mask, Use const& use)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, sizeof(T));
    if (address) use(image, w.resolve(*address, sizeof(T), lane, o, true), lane);
  });
}

template <typename T, typename Op, typename = Op>
void reduce_bytes(warp& w, operation const& o, lane_mask mask)
{
  each_element<T>(w, o, mask, [&](bound_image const&, std::byte* element, unsigned lane) {
    (void)update<T, Op>(element, register_value<T>(w, o, 0, lane), T{});
  });
}

/// No other file may have a template of this name: GCC 12 merges update_choice of both, although
/// they are local.
template <typename T, typename Op, typename SharedOp>
struct surface_reduction_of {
  static constexpr handler run = &reduce_bytes<T, Op, SharedOp>;
};

/// The surface's format tells whether the operands are signed.
template <typename Op>
void reduce_samples(warp& w, operation const& o, lane_mask mask)
{
  auto const reduce = [&](bound_image const& image, std::byte* element, unsigned lane) {
    auto const layout = image.layout().texels;
    if (layout.bytes() != 4 || layout.bits != 32 || layout.kind == texel_kind::floating)
      fail_texel(
          w, "the surface's texels are not integers of 32 bits", lane, o,
          "pass a surface of u32 or s32 with one channel, or use sured.b in the device code");
    if (layout.kind == texel_kind::signed_integer)
      (void)update<std::int32_t, Op>(element, register_value<std::int32_t>(w, o, 0, lane), 0);
    else
      (void)update<std::uint32_t, Op>(element, register_value<std::uint32_t>(w, o, 0, lane), 0U);
  };
  each_element<std::uint32_t>(w, o, mask, reduce);
}

handler pick_samples(decoding const& d, std::string_view name)
{
  if (name == "add") return &reduce_samples<of_two<op_add>>;
  if (name == "min") return &reduce_samples<of_two<op_min>>;
  if (name == "max") return &reduce_samples<of_two<op_max>>;
  if (name == "and") return &reduce_samples<of_two<op_and>>;
  if (name == "or") return &reduce_samples<of_two<op_or>>;
  d.fail_unsupported();
}

std::string_view take_operator(decoding& d)
{
  for (auto const* const name : {"add", "min", "max", "and", "or"})
    if (d.take(name)) return name;
  d.fail_unsupported("no modifier is an operation");
}

/// Whether PTX has the operation `name` on elements, or samples of .p, of `type`.
bool has_type(std::string_view name, type type, bool is_formatted) noexcept
{
  auto const is_bitwise = name == "and" || name == "or";
  if (is_formatted) return type == type::b32 || (type == type::b64 && !is_bitwise && name != "add");
  if (is_bitwise) return type == type::b32;
  return type == type::u32 || type == type::s32 || type == type::u64 ||
         (type == type::s64 && name != "add");
}

void decode_surface_reduction(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  auto const type = d.take_type();
  auto const name = take_operator(d);
  auto form = take_surface_form(d, is_formatted);
  if (is_layered(form.shape)) d.reject("reductions of layered surfaces");
  if (!has_type(name, type, form.is_formatted)) d.reject("the operation does not have this type");
  if (form.is_formatted && type != type::b32) d.fail_unsupported("samples that are not of 32 bits");
  auto const run = form.is_formatted
                       ? pick_samples(d, name)
                       : update_choice<surface_reduction_of>::pick(d, name, type, space::global);
  d.expect_count(2, 2);
  if (d.operand(1).kind == syntax::operand_kind::vector) d.reject("the operand is a vector");
  auto const value = take_registers(d, form, type, d.operand(1), true);
  emit_surface_access(d, run, form, d.operand(0), value, size_of(type));
}

// suld.b and sust.b: bytes of a surface, without conversion.

unsigned bytes_of(operation const& o) noexcept
{
  return static_cast<unsigned>(o.immediate);
}

template <typename M>
void load_surface(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, bytes_of(o));
    auto* const source = address ? w.resolve(*address, bytes_of(o), lane, o, false)
                                 : static_cast<std::byte*>(nullptr);
    if (source != nullptr && w.checks_accesses()) w.record_read(source, bytes_of(o), lane, o);
    for (unsigned k = 0; k < register_count(o); ++k)
      put_extended(w.at(register_at(w, o, k)), lane, register_stride(o),
                   source == nullptr ? M{0} : load_element<M>(source + k * sizeof(M)));
  });
}

template <typename M>
void store_surface(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, bytes_of(o));
    if (!address) return;
    std::array<M, 4> values = {};
    for (unsigned k = 0; k < register_count(o); ++k) values[k] = register_value<M>(w, o, k, lane);
    auto* const target = w.resolve(*address, bytes_of(o), lane, o, true);
    auto const* const after = reinterpret_cast<std::byte const*>(values.data());
    if (w.checks_accesses()) w.record_write(target, bytes_of(o), lane, o, after);
    for (unsigned k = 0; k < register_count(o); ++k)
      store_element<M>(target + k * sizeof(M), after + k * sizeof(M));
  });
}

template <bool Store>
handler pick_surface_access(decoding const& d, type type)
{
  switch (type) {
    case type::b8:
      return Store ? &store_surface<std::uint8_t> : &load_surface<std::uint8_t>;
    case type::b16:
      return Store ? &store_surface<std::uint16_t> : &load_surface<std::uint16_t>;
    case type::b32:
      return Store ? &store_surface<std::uint32_t> : &load_surface<std::uint32_t>;
    case type::b64:
      return Store ? &store_surface<std::uint64_t> : &load_surface<std::uint64_t>;
    default:
      d.fail_unsupported("not a supported type");
  }
}

template <bool Store>
void decode_surface_bytes(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  if (is_formatted) d.fail_unsupported("a formatted load");
  auto const type = d.take_type();
  auto const run = pick_surface_access<Store>(d, type);
  auto form = take_surface_form(d, is_formatted);
  take_cache_operator(d, Store);
  form.count = take_vector(d);
  auto const bytes = form.count * size_of(type);
  if (bytes > 16) d.fail_unsupported("more than 16 bytes");
  d.expect_count(2, 2);
  auto const registers = take_registers(d, form, type, d.operand(Store ? 1 : 0), Store);
  emit_surface_access(d, run, form, d.operand(Store ? 0 : 1), registers, bytes);
}

void decode_store(decoding& d)
{
  if (d.next_word() == "p") return decode_formatted_store(d);
  decode_surface_bytes<true>(d);
}

}  // namespace

void add_surfaces(decode_table& table)
{
  table["suld"] = &decode_surface_bytes<false>;
  table["sust"] = &decode_store;
  table["sured"] = &decode_surface_reduction;
}

}  // namespace fatlink::interpreter
