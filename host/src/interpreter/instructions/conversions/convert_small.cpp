// SPDX-License-Identifier: Apache-2.0
// cvt from and to formats of 4, 6 and 8 bits, always of two packed values. Source: PTX ISA 9.0,
// "cvt".
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/conversions/convert_special.hpp"
#include "interpreter/instructions/conversions/small_floats.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::binary16;
using half_float::round_to;

enum small_flags : std::uint32_t { k_relu = 1, k_up = 2, k_finite = 4 };

/// Negative numbers become zero, NaN stays.
double limited(double value, std::uint32_t flags) noexcept
{
  return (flags & k_relu) != 0 && value <= 0 ? 0.0 : value;
}

double half_at(std::byte const* lanes, unsigned index) noexcept
{
  return to_double(binary16{load<std::uint16_t>(lanes, index)});
}

/// Format is an index into k_small_formats.
template <std::size_t Format>
std::uint16_t packed(double upper, double lower, std::uint32_t flags) noexcept
{
  constexpr auto const& k_format = k_small_formats[Format];
  return static_cast<std::uint16_t>(encoded(limited(upper, flags), k_format) << k_format.width |
                                    encoded(limited(lower, flags), k_format));
}

template <std::size_t Format>
void narrow_floats(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    store(d, i, packed<Format>(load<float>(a, i), load<float>(b, i), o.flags));
  });
}

template <std::size_t Format>
void narrow_halves(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    store(d, i, packed<Format>(half_at(a, 2 * i + 1), half_at(a, 2 * i), o.flags));
  });
}

template <std::size_t Format>
void widen(warp& w, operation const& o, lane_mask mask)
{
  constexpr auto const& k_format = k_small_formats[Format];
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const codes = load<std::uint16_t>(a, i);
    for (unsigned k = 0; k < 2; ++k) {
      auto const code = codes >> (k * k_format.width) & (2U * k_format.sign - 1U);
      auto const value = limited(decoded(static_cast<std::uint8_t>(code), k_format), o.flags);
      store(d, 2 * i + k, round_to<binary16>(value).bits);
    }
  });
}

void scales_of_floats(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const up = (o.flags & k_up) != 0;
  auto const finite = (o.flags & k_finite) != 0;
  each_lane(mask, [=](unsigned i) {
    auto const upper = scale_of(load<float>(a, i), up, finite);
    auto const lower = scale_of(load<float>(b, i), up, finite);
    store(d, i, static_cast<std::uint16_t>(upper << 8 | lower));
  });
}

void scales_of_bfloats(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const up = (o.flags & k_up) != 0;
  auto const finite = (o.flags & k_finite) != 0;
  each_lane(mask, [=](unsigned i) {
    auto const pair = load<std::uint32_t>(a, i);
    auto const upper = scale_of(std::bit_cast<float>(pair & 0xFFFF0000U), up, finite);
    auto const lower = scale_of(std::bit_cast<float>(pair << 16), up, finite);
    store(d, i, static_cast<std::uint16_t>(upper << 8 | lower));
  });
}

void bfloats_of_scales(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const scales = load<std::uint16_t>(a, i);
    auto const upper = std::uint32_t{scale_as_bfloat(static_cast<std::uint8_t>(scales >> 8))};
    store(d, i, upper << 16 | scale_as_bfloat(static_cast<std::uint8_t>(scales)));
  });
}

void emit_with_flags(decoding& d, handler run, type result, std::initializer_list<type> sources,
                     std::uint32_t flags)
{
  d.emit(run, result, sources).flags = flags;
}

/// Two values of 4 bits are in a register of 8 bits.
type choose_packed_type(small_format const& format) noexcept
{
  return format.width == 4 ? type::b8 : type::b16;
}

template <std::size_t Format>
void decode_format(decoding& d)
{
  constexpr auto const& k_format = k_small_formats[Format];
  auto const flags = d.take("relu") ? k_relu : 0U;
  auto const finite = d.take("satfinite");
  if (!d.take("rn")) d.refuse("its rounding is not .rn");
  auto const packed_type = choose_packed_type(k_format);
  // The word of the format is taken already: the other type remains.
  auto const other = d.take_type();
  if (!finite && other == type::f16x2 && d.count() == 2 && d.width_of(d.operand(0)) == 4)
    return emit_with_flags(d, &widen<Format>, other, {packed_type}, flags);
  if (!finite) d.refuse("it has no .satfinite");
  if (other == type::f32)
    return emit_with_flags(d, &narrow_floats<Format>, packed_type, {other, other}, flags);
  if (other != type::f16x2 || k_format.nan == k_format.max) d.refuse("not a supported type");
  emit_with_flags(d, &narrow_halves<Format>, packed_type, {other}, flags);
}

/// ue8m0x2, to f32 or bf16x2 and from bf16x2.
void decode_scales(decoding& d)
{
  auto const finite = d.take("satfinite") ? k_finite : 0U;
  auto const other = d.take_type();
  if (d.take("rn")) {
    if (other != type::bf16x2 || finite != 0) d.refuse("not a supported type");
    return emit_with_flags(d, &bfloats_of_scales, other, {type::b16}, 0);
  }
  auto const up = d.take("rp") ? k_up : 0U;
  if (up == 0 && !d.take("rz")) d.refuse("its rounding is neither .rz nor .rp");
  if (other == type::f32)
    return emit_with_flags(d, &scales_of_floats, type::b16, {other, other}, up | finite);
  if (other != type::bf16x2) d.refuse("not a supported type");
  emit_with_flags(d, &scales_of_bfloats, type::b16, {other}, up | finite);
}

template <std::size_t... Format>
bool decode_any_format(decoding& d, std::index_sequence<Format...>)
{
  return ((d.take(k_small_formats[Format].word) && (decode_format<Format>(d), true)) || ...);
}

}  // namespace

bool decode_small_conversion(decoding& d)
{
  for (auto const* const word : {"e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"})
    if (d.take(word))
      d.refuse("the PTX ISA does not state which random bits round which of the four values");
  if (d.take("ue8m0x2")) {
    decode_scales(d);
    return true;
  }
  return decode_any_format(d, std::make_index_sequence<k_small_formats.size()>{});
}

}  // namespace fatlink::interpreter
