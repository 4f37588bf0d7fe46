// SPDX-License-Identifier: Apache-2.0
// tex and tld4: reads of a texture at floating-point coordinates, filtered as its object states, or
// of one texel at integer coordinates; the four texels that the linear filter would read. Textures
// have one level, so that a level or gradient chooses nothing. Source: PTX ISA 9.0, "tex", "tld4";
// CUDA Programming Guide 13.0, "Texture Fetching".
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/execution/textures.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/textures/texture_object.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// The value of a texel: how the channels of each format are read and written.
// Source: CUDA Programming Guide 13.0, "Texture Memory", "16-Bit Floating-Point Textures".

/// The 32 bits of each channel, r g b a: integers, extended by their sign, or f32.
using texel = std::array<std::uint32_t, 4>;

using texel_reader = texel (*)(std::byte const*);

using half_float::binary16;

/// Other threads may write it at the same time.
template <typename Bits>
Bits load_channel(std::byte const* source) noexcept
{
  auto* const channel = const_cast<Bits*>(reinterpret_cast<Bits const*>(source));
  return std::atomic_ref<Bits>(*channel).load(std::memory_order_relaxed);
}

/// -128 and -127 are both -1.
template <typename T>
float normalized(T value) noexcept
{
  auto const quotient = static_cast<double>(value) / std::numeric_limits<T>::max();
  return static_cast<float>(std::max(quotient, -1.0));
}

template <typename T, bool Normalizes>
std::uint32_t read_channel(std::byte const* source) noexcept
{
  if constexpr (std::is_same_v<T, float>)
    return load_channel<std::uint32_t>(source);
  else if constexpr (std::is_same_v<T, binary16>)
    return std::bit_cast<std::uint32_t>(
        half_float::to_float(binary16{load_channel<std::uint16_t>(source)}));
  else {
    auto const value = static_cast<T>(load_channel<std::make_unsigned_t<T>>(source));
    if constexpr (Normalizes) return std::bit_cast<std::uint32_t>(normalized(value));
    return static_cast<std::uint32_t>(value);
  }
}

template <typename T>
constexpr bool k_is_float = std::is_same_v<T, float> || std::is_same_v<T, binary16>;

/// The texel of an image without channels: 0, 0, 0, 1.
texel empty_texel(bool is_float) noexcept
{
  return {0, 0, 0, is_float ? std::bit_cast<std::uint32_t>(1.0F) : 1U};
}

template <typename T, unsigned Channels, bool Normalizes>
texel read_texel(std::byte const* source)
{
  auto result = empty_texel(Normalizes || k_is_float<T>);
  for (unsigned i = 0; i < Channels; ++i)
    result[i] = read_channel<T, Normalizes>(source + i * sizeof(T));
  return result;
}

template <typename T, bool Normalizes = false>
texel_reader of_channels(unsigned channels) noexcept
{
  if (channels == 1) return &read_texel<T, 1, Normalizes>;
  return channels == 2 ? &read_texel<T, 2, Normalizes> : &read_texel<T, 4, Normalizes>;
}

template <typename T>
texel_reader of_integers(unsigned channels, bool normalizes) noexcept
{
  return normalizes ? of_channels<T, true>(channels) : of_channels<T>(channels);
}

/// Whether a texture has integers to read as floats of [0, 1] or [-1, 1]: of 8 or 16 bits.
bool normalizes(texel_layout layout, sampler const& sampler) noexcept
{
  return sampler.reads_normalized && layout.kind != texel_kind::floating && layout.bits <= 16;
}

/// Whether reading a texture gives f32.
bool reads_floats(texel_layout layout, sampler const& sampler) noexcept
{
  return layout.kind == texel_kind::floating || normalizes(layout, sampler);
}

/// Reads one texel. Channels that the format does not have are 0, and alpha is 1.
texel_reader reader_of(texel_layout layout, bool normalizes) noexcept
{
  auto const count = layout.channels;
  if (layout.kind == texel_kind::floating)
    return layout.bits == 16 ? of_channels<binary16>(count) : of_channels<float>(count);
  auto const is_signed = layout.kind == texel_kind::signed_integer;
  if (layout.bits == 8)
    return is_signed ? of_integers<std::int8_t>(count, normalizes)
                     : of_integers<std::uint8_t>(count, normalizes);
  if (layout.bits == 16)
    return is_signed ? of_integers<std::int16_t>(count, normalizes)
                     : of_integers<std::uint16_t>(count, normalizes);
  return of_channels<std::uint32_t>(count);
}

// Which texels a floating-point coordinate reads: address modes, the footprint of the linear
// filter, the face of a cube.
// Source: CUDA Programming Guide 13.0, "Texture Fetching", "Cubemap Textures".

constexpr std::int64_t k_border = -1;  ///< instead of the index of a texel: the border's colour

/// A dimension of an image.
struct axis {
  std::int64_t size = 1;  ///< texels
  address_mode mode = address_mode::clamp;
  bool is_normalized = false;  ///< coordinates from 0 to 1
};

/// Two texels that are next to each other before the address mode, and the second one's weight: a
/// multiple of 1/256, below 1.
struct neighbours {
  std::int64_t first = 0;
  std::int64_t second = 0;
  double weight = 0;
};

/// A face of a cube, 0 to 5, and the coordinates on it, 0 to 1.
struct cube_place {
  unsigned face = 0;
  float s = 0;
  float t = 0;
};

constexpr double k_far = 0x1p40;       // beyond any texel, and exact with 8 fraction bits
constexpr std::int64_t k_steps = 256;  // of the weights of the linear filter

std::int64_t modulo(std::int64_t value, std::int64_t divisor) noexcept
{
  auto const remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

/// std::floor is a call on processors before x86-64-v2.
std::int64_t floor_of(double value) noexcept
{
  auto const whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) > value ? whole - 1 : whole;
}

/// The coordinate in texels. NaN counts as 0. A periodic coordinate is in its first period, so that
/// large ones keep their fraction.
double scaled(axis const& axis, float coordinate) noexcept
{
  if (std::isnan(coordinate)) return 0;
  auto value = std::clamp(static_cast<double>(coordinate), -k_far, k_far);
  if (!axis.is_normalized) return value;
  if (axis.mode == address_mode::wrap) value -= static_cast<double>(floor_of(value));
  if (axis.mode == address_mode::mirror) value -= 2 * static_cast<double>(floor_of(value / 2));
  return std::clamp(value * static_cast<double>(axis.size), -k_far, k_far);
}

std::uint64_t extent_along(image_layout const& layout, unsigned dimension) noexcept
{
  auto const size = dimension == 0 ? layout.width : dimension == 1 ? layout.height : layout.depth;
  return std::max<std::uint64_t>(size, 1);
}

/// Of dimension 0 to 2.
axis axis_of(image_layout const& layout, sampler const& sampler, unsigned dimension) noexcept
{
  auto const is_normalized = sampler.has_normalized_coordinates || layout.is_cube;
  return {static_cast<std::int64_t>(extent_along(layout, dimension)),
          mode_of(layout, sampler, dimension), is_normalized};
}

/// The texel that the address mode puts in place of `index`, or k_border.
std::int64_t texel_at(axis const& axis, std::int64_t index) noexcept
{
  auto const size = axis.size;
  if (index >= 0 && index < size) return index;
  switch (axis.mode) {
    case address_mode::wrap:
      return modulo(index, size);
    case address_mode::mirror: {
      auto const place = modulo(index, 2 * size);
      return place < size ? place : 2 * size - 1 - place;
    }
    case address_mode::border:
      return k_border;
    case address_mode::clamp:
      break;
  }
  return std::clamp<std::int64_t>(index, 0, size - 1);
}

/// The texel that a coordinate is in. `offset`: texels that are added.
std::int64_t nearest(axis const& axis, float coordinate, std::int32_t offset) noexcept
{
  return texel_at(axis, floor_of(scaled(axis, coordinate)) + offset);
}

neighbours around(axis const& axis, float coordinate, std::int32_t offset) noexcept
{
  auto const place = std::llrint((scaled(axis, coordinate) - 0.5) * k_steps);
  auto const weight = place & (k_steps - 1);
  auto const first = place / k_steps - (place < 0 && weight != 0 ? 1 : 0) + offset;
  return {texel_at(axis, first), texel_at(axis, first + 1), static_cast<double>(weight) / k_steps};
}

cube_place on_cube(float x, float y, float z) noexcept
{
  auto const ax = std::abs(x);
  auto const ay = std::abs(y);
  auto const az = std::abs(z);
  auto const on_face = [](unsigned face, float s, float t, float major) {
    return cube_place{face, (s / major + 1) / 2, (t / major + 1) / 2};
  };
  if (az >= ax && az >= ay) return z < 0 ? on_face(5, -x, -y, az) : on_face(4, x, -y, az);
  if (ay >= ax) return y < 0 ? on_face(3, x, -z, ay) : on_face(2, x, z, ay);
  return x < 0 ? on_face(1, z, -y, ax) : on_face(0, -z, -y, ax);
}

/// A place that floating-point coordinates name. `slice`: the layer or face, 0 if there is none.
struct sample_point {
  std::array<float, 3> coordinates = {};
  std::array<std::int32_t, 3> offsets = {};  ///< texels
  std::uint64_t slice = 0;
};

class texture_view {
 public:
  texture_view() = default;
  texture_view(warp& w, operation const& o, bound_image const& image) noexcept;

  [[nodiscard]] bound_image const& image() const noexcept { return image_; }
  [[nodiscard]] bool reads_floats() const noexcept { return reads_floats_; }
  [[nodiscard]] bool filters() const noexcept { return filters_; }
  /// The texel of an index in each dimension, or the border.
  [[nodiscard]] texel at(std::array<std::int64_t, 3> const& index, std::uint64_t slice,
                         unsigned lane) const;
  /// As the texture's filter states.
  [[nodiscard]] texel sample(sample_point const& point, unsigned lane) const;
  /// The four texels that the linear filter reads of a plane: counter-clockwise, from (0, 1).
  [[nodiscard]] std::array<texel, 4> gather(sample_point const& point, unsigned lane) const;

 private:
  [[nodiscard]] texel nearest_texel(sample_point const& point, unsigned lane) const;
  [[nodiscard]] texel filtered(sample_point const& point, unsigned lane) const;
  template <unsigned Dimensions>
  [[nodiscard]] texel filtered_in(sample_point const& point, unsigned lane) const;
  [[nodiscard]] texel border() const noexcept;

  warp* warp_ = nullptr;
  operation const* operation_ = nullptr;
  bound_image image_ = {};
  texel_reader read_ = nullptr;
  bool reads_floats_ = false;
  bool filters_ = false;
  unsigned dimensions_ = 1;  ///< of a slice
  std::array<axis, 3> axes_ = {};
};

texture_view::texture_view(warp& w, operation const& o, bound_image const& image) noexcept
    : warp_(&w), operation_(&o), image_(image)
{
  auto const& layout = image.layout();
  auto const& sampler = image.sampler();
  read_ = reader_of(layout.texels, normalizes(layout.texels, sampler));
  reads_floats_ = interpreter::reads_floats(layout.texels, sampler);
  filters_ = sampler.is_linear_filter && reads_floats_;
  dimensions_ = layout.depth != 0 ? 3 : layout.height != 0 ? 2 : 1;
  for (unsigned i = 0; i < dimensions_; ++i) axes_[i] = axis_of(layout, sampler, i);
}

/// Integers are the bits of the colour's floats.
texel texture_view::border() const noexcept
{
  auto color = empty_texel(reads_floats_);
  for (unsigned i = 0; i < image_.layout().texels.channels; ++i)
    color[i] = std::bit_cast<std::uint32_t>(image_.sampler().border[i]);
  return color;
}

texel texture_view::at(std::array<std::int64_t, 3> const& index, std::uint64_t slice,
                       unsigned lane) const
{
  if (std::min({index[0], index[1], index[2]}) < 0) return border();
  auto const& layout = image_.layout();
  auto const size = layout.texels.bytes();
  auto const offset = (slice + static_cast<std::uint64_t>(index[2])) * layout.slice_bytes() +
                      static_cast<std::uint64_t>(index[1]) * layout.row_bytes +
                      static_cast<std::uint64_t>(index[0]) * size;
  if (warp_->checks_accesses()) {
    auto const address = image_.object->image.address + offset;
    auto const* const source = warp_->resolve(address, size, lane, *operation_, false);
    warp_->record_read(source, size, lane, *operation_);
  }
  return read_(image_.texels + offset);
}

texel texture_view::sample(sample_point const& point, unsigned lane) const
{
  return filters_ ? filtered(point, lane) : nearest_texel(point, lane);
}

texel texture_view::nearest_texel(sample_point const& point, unsigned lane) const
{
  std::array<std::int64_t, 3> index = {};
  for (unsigned i = 0; i < dimensions_; ++i)
    index[i] = nearest(axes_[i], point.coordinates[i], point.offsets[i]);
  return at(index, point.slice, lane);
}

texel texture_view::filtered(sample_point const& point, unsigned lane) const
{
  if (dimensions_ == 1) return filtered_in<1>(point, lane);
  return dimensions_ == 2 ? filtered_in<2>(point, lane) : filtered_in<3>(point, lane);
}

/// The sum of the weighted texels, rounded once to f32; NaNs are canonical. A texel of weight 0 is
/// not read. The sum begins at -0.0, to which adding changes no number, so that texels of -0.0 keep
/// their sign.
template <unsigned Dimensions>
texel texture_view::filtered_in(sample_point const& point, unsigned lane) const
{
  std::array<neighbours, Dimensions> places = {};
  for (unsigned i = 0; i < Dimensions; ++i)
    places[i] = around(axes_[i], point.coordinates[i], point.offsets[i]);
  auto const channels = image_.layout().texels.channels;
  std::array<double, 4> sums = {-0.0, -0.0, -0.0, -0.0};
  for (unsigned corner = 0; corner < 1U << Dimensions; ++corner) {
    std::array<std::int64_t, 3> index = {};
    auto weight = 1.0;
    for (unsigned i = 0; i < Dimensions; ++i) {
      auto const is_second = (corner >> i & 1U) != 0;
      index[i] = is_second ? places[i].second : places[i].first;
      weight *= is_second ? places[i].weight : 1 - places[i].weight;
    }
    if (weight == 0) continue;
    auto const value = at(index, point.slice, lane);
    for (unsigned k = 0; k < channels; ++k)
      sums[k] += weight * static_cast<double>(std::bit_cast<float>(value[k]));
  }
  auto result = empty_texel(true);
  for (unsigned k = 0; k < channels; ++k)
    result[k] = std::bit_cast<std::uint32_t>(canonical(static_cast<float>(sums[k])));
  return result;
}

std::array<texel, 4> texture_view::gather(sample_point const& point, unsigned lane) const
{
  auto const x = around(axes_[0], point.coordinates[0], point.offsets[0]);
  auto const y = around(axes_[1], point.coordinates[1], point.offsets[1]);
  auto const read = [&](std::int64_t column, std::int64_t row) {
    return at({column, row, 0}, point.slice, lane);
  };
  return {read(x.first, y.second), read(x.second, y.second), read(x.second, y.first),
          read(x.first, y.first)};
}

// What tex and tld4 have in common: destinations, coordinates, offsets, and the texture.

/// What the destination's registers hold: four of 32 or 16 bits, or two of two halves.
enum class sample_type : std::uint32_t { floats, integers, halves, half_pairs };

struct sampling_form {
  geometry shape = geometry::line;
  sample_type result = sample_type::floats;
  bool has_integer_coordinates = false;
  unsigned component = 0;        ///< of tld4: 0 to 3
  std::size_t next_operand = 2;  ///< after the texture and the level
};

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

/// Which component tld4 reads.
unsigned component_of(operation const& o) noexcept
{
  return o.flags >> 8 & 3U;
}

/// The texture of a lane's handle. @throws code_error (address) it is not one that `o` can read.
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

/// The offset `index` of a lane.
std::int32_t offset_of(warp const& w, operation const& o, unsigned index, unsigned lane)
{
  if (o.c == k_no_operand) return 0;
  auto const offset = load<std::int32_t>(w.at(list_at(w, o.c)[index]), lane);
  if (offset < -8 || offset > 7)
    fail_texel(w, "the offset " + std::to_string(offset) + " is not in -8 to 7", lane, o);
  return offset;
}

/// The layer, or 0; checked.
std::uint64_t layer_of(warp& w, operation const& o, texture_view const& view, unsigned lane)
{
  if (!is_layered(geometry_of(o))) return 0;
  auto const layer = coordinate_of(w, o, 0, lane);
  check_layer(w, o, view.image(), layer, lane);
  return layer;
}

/// The place that a lane's floating-point coordinates name.
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

/// Sets the predicate of residency: all texels are in memory.
void set_resident(warp& w, operation const& o, lane_mask mask) noexcept
{
  if (o.e != k_no_operand) w.set_predicate(o.e, mask, mask);
}

using syntax::operand_kind;

type register_type(sample_type result) noexcept
{
  return result == sample_type::halves ? type::b16 : type::b32;
}

/// Whether `operand` is the depth that texels are compared with, and not a vector of offsets.
bool is_depth(decoding const& d, syntax::operand const& operand, geometry shape)
{
  if (operand.kind == operand_kind::vector) return false;
  return dimensions_of(shape) > 1 || holds_float(d, operand);
}

/// The list of the offsets; k_no_operand if there are none.
operand_offset take_offsets(decoding& d, sampling_form const& form)
{
  d.expect_count(form.next_operand, form.next_operand + 2);
  if (d.count() == form.next_operand) return k_no_operand;
  auto const& operand = d.operand(form.next_operand);
  if (d.count() == form.next_operand + 2 || is_depth(d, operand, form.shape))
    d.refuse_feature("comparisons of depth textures");
  if (is_cube(form.shape)) d.reject("a cube has no offsets");
  auto const parts = parts_of(d, operand);
  if (parts.size() < dimensions_of(form.shape)) d.reject("too few offsets");
  std::vector<operand_offset> offsets;
  for (unsigned i = 0; i < dimensions_of(form.shape); ++i)
    offsets.push_back(typed_source(d, parts[i], type::s32));
  return d.add_list(offsets);
}

/// PTX takes registers of integers for floats, but not the reverse.
void check_result(decoding const& d, syntax::operand const& part, sample_type result)
{
  if (result == sample_type::integers) check_type(d, part, type::s32);
  if (result == sample_type::half_pairs && d.is_register(part) &&
      d.function().registers[part.index].type == type::f32)
    d.reject("a float of 32 bits where the instruction has two halves");
}

operand_offset take_sample_results(decoding& d, syntax::operand const& operand, sample_type result)
{
  auto const count = result == sample_type::half_pairs ? 2U : 4U;
  if (operand.kind != operand_kind::vector || operand.parts.size() != count)
    d.reject("the destination is not a vector of " + std::to_string(count) + " registers");
  check_kept(d, operand.parts);
  std::vector<operand_offset> registers;
  for (auto const& part : operand.parts) {
    check_result(d, part, result);
    registers.push_back(d.destination(part, register_type(result)));
  }
  return d.add_list(registers);
}

std::uint32_t pack_sampling(sampling_form const& form) noexcept
{
  return static_cast<std::uint32_t>(form.shape) |
         static_cast<std::uint32_t>(form.result) << k_geometry_bits | form.component << 8;
}

/// Takes .v4.f32 or another result. @throws code_error (refused).
sample_type take_sample_type(decoding& d)
{
  auto const type = d.take_type();
  auto const is_pair = type == type::f16x2;
  if (!d.take(is_pair ? "v2" : "v4")) d.fail_unsupported("not a supported vector");
  switch (type) {
    case type::f32:
      return sample_type::floats;
    case type::u32:
    case type::s32:
      return sample_type::integers;
    case type::f16:
      return sample_type::halves;
    case type::f16x2:
      return sample_type::half_pairs;
    default:
      d.fail_unsupported("not a supported type");
  }
}

/// Adds the operation: d, b and c are lists of the destinations, the coordinates and the offsets,
/// e is the predicate, a the handle.
void emit_sampling(decoding& d, handler run, sampling_form const& form)
{
  auto const& first = d.operand(0);
  auto const has_predicate = first.kind == operand_kind::pair;
  auto const offsets = take_offsets(d, form);
  auto const place =
      take_texel(d, d.operand(1), form.shape, form.has_integer_coordinates ? type::s32 : type::f32);
  auto const results = take_sample_results(d, has_predicate ? first.parts[0] : first, form.result);
  auto const predicate = has_predicate ? d.predicate_destination(first.parts[1]) : k_no_operand;
  auto const coordinates = d.add_list(place.coordinates);
  auto& o = d.emit(run);
  o.a = place.handle;
  o.b = coordinates;
  o.c = offsets;
  o.d = results;
  o.e = predicate;
  o.flags = pack_sampling(form);
}

// tex.

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
  if (coordinates != type::f32 && coordinates != type::s32)
    d.fail_unsupported("not a supported type");
  sampling_form form;
  form.has_integer_coordinates = coordinates == type::s32;
  form.result = take_sample_type(d);
  form.shape = take_geometry(d);
  if (form.has_integer_coordinates && is_cube(form.shape))
    d.reject("a cube has floating-point coordinates");
  form.next_operand = skip_level(d, level, form.shape, coordinates);
  emit_sampling(d, form.has_integer_coordinates ? &fetch : &sample, form);
}

// tld4: reads one component of the four texels that the linear filter would read.
// CUDA allows it only for 2-D arrays that were made for it (CUDA_ARRAY3D_TEXTURE_GATHER), not for
// layers, cubes and linear memory: what these would return is not defined.
// Source: cuda.h 13.0 at cuArray3DCreate.

void check_gather(warp const& w, operation const& o, image_layout const& layout, unsigned lane)
{
  if (layout.is_pitched)
    fail_texel(w, "CUDA does not define gathers (tld4, tex2Dgather) from rows of linear memory",
               lane, o, "copy the texels to an array that is made with array_shape::allows_gather");
  if (!layout.allows_gather)
    fail_texel(w, "the array was made without access by tld4 (tex2Dgather)", lane, o,
               "set array_shape::allows_gather when the array is made");
}

void gather(warp& w, operation const& o, lane_mask mask)
{
  auto const component = component_of(o);
  auto const find = [&](unsigned lane) {
    auto const view = find_texture(w, o, lane);
    check_gather(w, o, view.image().layout(), lane);
    return view;
  };
  each_image(w, o, mask, find, [&](texture_view const& view, unsigned lane) {
    auto const texels = view.gather(point_of(w, o, view, lane), lane);
    store_texel(
        w, o, lane,
        {texels[0][component], texels[1][component], texels[2][component], texels[3][component]});
  });
  set_resident(w, o, mask);
}

unsigned take_component(decoding& d)
{
  unsigned index = 0;
  for (auto const* const name : {"r", "g", "b", "a"}) {
    if (d.take(name)) return index;
    ++index;
  }
  d.fail_unsupported("no modifier is a component");
}

void decode_tld4(decoding& d)
{
  if (d.take_type() != type::f32) d.fail_unsupported("not a supported type");
  sampling_form form;
  form.component = take_component(d);
  form.result = take_sample_type(d);
  if (form.result == sample_type::halves || form.result == sample_type::half_pairs)
    d.fail_unsupported("not a supported type");
  form.shape = take_geometry(d);
  if (dimensions_of(form.shape) == 1 || form.shape == geometry::volume)
    d.reject("four texels of a line or a volume");
  if (form.shape != geometry::plane)
    d.fail_unsupported("CUDA defines gathers from 2-D arrays without layers only");
  emit_sampling(d, &gather, form);
}

}  // namespace

void add_texture_fetches(decode_table& table)
{
  table["tex"] = &decode_tex;
  table["tld4"] = &decode_tld4;
}

}  // namespace fatlink::interpreter
