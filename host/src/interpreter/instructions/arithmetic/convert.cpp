// SPDX-License-Identifier: Apache-2.0
// cvt: between all types of 8 to 64 bits, and the special forms. Source: PTX ISA 9.0, "cvt",
// "cvt.pack", "Alternate Floating-Point Data Formats".
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/arithmetic/half.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// The floating-point formats of 4, 6 and 8 bits, converted from and to double.

/// A format with a sign, and no infinity unless `infinity` is not 0. Codes are without the sign.
struct small_format {
  std::string_view word;  ///< of two packed values
  unsigned width = 8;     ///< bits from one packed value to the next
  unsigned fraction = 0;  ///< bits
  int bias = 0;           ///< of the exponent
  std::uint8_t sign = 0;  ///< the sign bit
  std::uint8_t max = 0;   ///< the greatest finite number
  std::uint8_t nan = 0;   ///< max, if the format has no NaN
  std::uint8_t infinity = 0;
};

constexpr std::array k_small_formats{
    small_format{"e4m3x2", 8, 3, 7, 0x80, 0x7E, 0x7F},
    small_format{"e5m2x2", 8, 2, 15, 0x80, 0x7B, 0x7F, 0x7C},
    small_format{"e2m3x2", 8, 3, 1, 0x20, 0x1F, 0x1F},
    small_format{"e3m2x2", 8, 2, 3, 0x20, 0x1F, 0x1F},
    small_format{"e2m1x2", 4, 1, 1, 0x08, 0x07, 0x07},
};

/// Rounds to nearest even. Values beyond the range become the greatest finite number; NaN becomes
/// the positive NaN, or the greatest number of a format without it.
inline std::uint8_t encoded(double value, small_format const& format) noexcept
{
  if (std::isnan(value)) return format.nan;
  auto const sign = std::signbit(value) ? format.sign : std::uint8_t{0};
  auto const magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  auto const fraction = static_cast<int>(format.fraction);
  auto const min_exponent = 1 - format.bias;
  auto const exponent =
      std::isinf(value) ? format.bias + 8 : std::max(std::ilogb(magnitude), min_exponent);
  if (exponent > format.bias + 1) return static_cast<std::uint8_t>(sign | format.max);
  // A carry out of the fraction increments the exponent, whose bits are next to it.
  auto const steps = std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  auto const code = ((exponent - min_exponent) << fraction) + static_cast<int>(steps);
  return static_cast<std::uint8_t>(sign | std::min<int>(code, format.max));
}

inline double decoded(std::uint8_t code, small_format const& format) noexcept
{
  auto const sign = (code & format.sign) != 0 ? -1.0 : 1.0;
  auto const magnitude = code & (format.sign - 1U);
  if (format.infinity != 0 && magnitude == format.infinity) return sign * HUGE_VAL;
  if (magnitude > format.max) return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  auto const fraction = static_cast<int>(format.fraction);
  auto const exponent = static_cast<int>(magnitude >> format.fraction);
  auto const digits = static_cast<int>(magnitude & ((1U << format.fraction) - 1));
  if (exponent == 0) return sign * std::ldexp(digits, 1 - format.bias - fraction);
  return sign * std::ldexp(digits + (1 << fraction), exponent - format.bias - fraction);
}

/// The exponent of |value| as ue8m0, rounded towards zero or `up`; 255 is NaN. Numbers up to 2^-127
/// become 2^-127.
inline std::uint8_t scale_of(float value, bool up, bool finite) noexcept
{
  auto const bits = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
  if (bits > 0x7F800000U) return 0xFF;
  auto exponent = bits >> 23;
  if (up && (bits & 0x7FFFFFU) != 0 && bits > 0x400000U) ++exponent;
  return static_cast<std::uint8_t>(finite && exponent == 0xFF ? 0xFE : exponent);
}

/// The bits of a bf16 of a scale.
inline std::uint16_t scale_as_bfloat(std::uint8_t scale) noexcept
{
  if (scale == 0xFF) return 0x7FFF;
  return static_cast<std::uint16_t>(scale == 0 ? 0x40U : unsigned{scale} << 7);
}

// cvt from and to these formats, always of two packed values.

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
  if (!d.take("rn")) d.fail_unsupported("its rounding is not .rn");
  auto const packed_type = choose_packed_type(k_format);
  // The word of the format is taken already: the other type remains.
  auto const other = d.take_type();
  if (!finite && other == type::f16x2 && d.count() == 2 && d.width_of(d.operand(0)) == 4)
    return emit_with_flags(d, &widen<Format>, other, {packed_type}, flags);
  if (!finite) d.fail_unsupported("it has no .satfinite");
  if (other == type::f32)
    return emit_with_flags(d, &narrow_floats<Format>, packed_type, {other, other}, flags);
  if (other != type::f16x2 || k_format.nan == k_format.max)
    d.fail_unsupported("not a supported type");
  emit_with_flags(d, &narrow_halves<Format>, packed_type, {other}, flags);
}

/// ue8m0x2, to f32 or bf16x2 and from bf16x2.
void decode_scales(decoding& d)
{
  auto const finite = d.take("satfinite") ? k_finite : 0U;
  auto const other = d.take_type();
  if (d.take("rn")) {
    if (other != type::bf16x2 || finite != 0) d.fail_unsupported("not a supported type");
    return emit_with_flags(d, &bfloats_of_scales, other, {type::b16}, 0);
  }
  auto const up = d.take("rp") ? k_up : 0U;
  if (up == 0 && !d.take("rz")) d.fail_unsupported("its rounding is neither .rz nor .rp");
  if (other == type::f32)
    return emit_with_flags(d, &scales_of_floats, type::b16, {other, other}, up | finite);
  if (other != type::bf16x2) d.fail_unsupported("not a supported type");
  emit_with_flags(d, &scales_of_bfloats, type::b16, {other}, up | finite);
}

template <std::size_t... Format>
bool decode_any_format(decoding& d, std::index_sequence<Format...>)
{
  return ((d.take(k_small_formats[Format].word) && (decode_format<Format>(d), true)) || ...);
}

/// Decodes a cvt from or to a format of 4, 6 or 8 bits. False: it is of another form.
/// @throws code_error (refused).
bool decode_small_conversion(decoding& d)
{
  for (auto const* const word : {"e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"})
    if (d.take(word))
      d.fail_unsupported(
          "the PTX ISA does not state which random bits round which of the four values");
  if (d.take("ue8m0x2")) {
    decode_scales(d);
    return true;
  }
  return decode_any_format(d, std::make_index_sequence<k_small_formats.size()>{});
}

// cvt.pack, tf32, .satfinite of 16-bit types, stochastic rounding.

using half_float::bfloat16;
using half_float::binary16;

enum tf32_rounding : std::uint32_t { k_nearest_away, k_nearest_even, k_to_zero };
/// operation::flags: the rounding, and these.
constexpr std::uint32_t k_relu_flag = 0x10000;
constexpr std::uint32_t k_finite_flag = 0x20000;
constexpr std::uint32_t k_rounding_bits = 0xFFFF;

/// tf32 has the upper 19 bits of f32. With .rna, a NaN keeps its own (measured on an H100).
std::uint32_t as_tf32(std::uint32_t bits, std::uint32_t flags) noexcept
{
  constexpr std::uint32_t k_infinity = 0x7F800000;
  constexpr std::uint32_t k_cut = 0x1FFF;
  auto const sign = bits & 0x80000000U;
  auto magnitude = bits & 0x7FFFFFFFU;
  auto const rounding = flags & k_rounding_bits;
  if (magnitude > k_infinity) return rounding == k_nearest_away ? bits & ~k_cut : k_nan;
  if ((flags & k_relu_flag) != 0 && sign != 0) return 0;
  if (rounding == k_nearest_away) magnitude += 0x1000;
  if (rounding == k_nearest_even) magnitude += 0xFFFU + (magnitude >> 13 & 1U);
  magnitude &= ~k_cut;
  if ((flags & k_finite_flag) != 0) magnitude = std::min(magnitude, k_infinity - 0x2000U);
  return sign | std::min(magnitude, k_infinity);
}

void convert_tf32(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, as_tf32(load<std::uint32_t>(a, i), o.flags)); });
}

/// Infinities and values beyond the range become the greatest finite number.
template <typename Half>
std::uint16_t finite_half(float value, std::uint32_t flags) noexcept
{
  constexpr auto k_infinity = 0x7FFFU >> Half::k_fraction << Half::k_fraction;
  if (std::isnan(value)) return Half::k_nan;
  if ((flags & k_relu_flag) != 0 && value <= 0) return 0;
  auto const rounded = half_float::round_to<Half>(value, rounding_of(flags & k_rounding_bits)).bits;
  return static_cast<std::uint16_t>((rounded & 0x7FFFU) == k_infinity ? rounded - 1U : rounded);
}

template <typename Half>
void convert_finite(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) { store(d, i, finite_half<Half>(load<float>(a, i), o.flags)); });
}

template <typename Half>
void convert_finite_pair(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const upper = finite_half<Half>(load<float>(a, i), o.flags);
    auto const lower = finite_half<Half>(load<float>(b, i), o.flags);
    store(d, i, std::uint32_t{upper} << 16 | lower);
  });
}

/// Adds 16 random bits to the bits that are cut off: rounds up if they carry.
std::uint32_t rounded_stochastically(std::uint32_t bits, std::uint32_t random,
                                     std::uint32_t flags) noexcept
{
  constexpr std::uint32_t k_infinity = 0x7F800000;
  auto const sign = bits & 0x80000000U;
  auto magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > k_infinity) return bfloat16::k_nan;
  if ((flags & k_relu_flag) != 0 && sign != 0) return 0;
  if (magnitude < k_infinity) magnitude += random;
  if ((flags & k_finite_flag) != 0) magnitude = std::min(magnitude, k_infinity - 1);
  return (sign | magnitude) >> 16;
}

void convert_stochastically(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const random = load<std::uint32_t>(c, i);
    auto const upper = rounded_stochastically(load<std::uint32_t>(a, i), random >> 16, o.flags);
    auto const lower = rounded_stochastically(load<std::uint32_t>(b, i), random & 0xFFFFU, o.flags);
    store(d, i, upper << 16 | lower);
  });
}

std::uint32_t take_limits(decoding& d)
{
  return (d.take("relu") ? k_relu_flag : 0U) | (d.take("satfinite") ? k_finite_flag : 0U);
}

void decode_tf32(decoding& d)
{
  auto const flags = take_limits(d);
  if (d.take_type() != type::f32) d.fail_unsupported("not a supported type");
  auto const rounding = d.take("rna") ? k_nearest_away : d.take("rn") ? k_nearest_even : k_to_zero;
  if (rounding == k_to_zero && !d.take("rz"))
    d.fail_unsupported("its rounding is not .rna, .rn or .rz");
  d.emit(&convert_tf32, type::b32, {type::f32}).flags = flags | rounding;
}

/// cvt.satfinite from f32 to f16, bf16 and pairs of these.
void decode_finite(decoding& d, type target, std::uint32_t flags)
{
  if (!d.take("rn")) {
    if (!d.take("rz")) d.fail_unsupported("its rounding is neither .rn nor .rz");
    flags |= static_cast<std::uint32_t>(rounding::to_zero);
  }
  switch (target) {
    case type::f16:
      d.emit(&convert_finite<binary16>, target, {type::f32}).flags = flags;
      return;
    case type::bf16:
      d.emit(&convert_finite<bfloat16>, target, {type::f32}).flags = flags;
      return;
    case type::f16x2:
      d.emit(&convert_finite_pair<binary16>, target, {type::f32, type::f32}).flags = flags;
      return;
    case type::bf16x2:
      d.emit(&convert_finite_pair<bfloat16>, target, {type::f32, type::f32}).flags = flags;
      return;
    default:
      d.fail_unsupported("not a supported type");
  }
}

void decode_stochastic(decoding& d)
{
  auto const flags = take_limits(d);
  auto const source = d.take_type();
  auto const target = d.take_type();
  if (source != type::f32 || target != type::bf16x2)
    d.fail_unsupported(
        "the PTX ISA does not state how random bits round numbers below the normal ones");
  d.emit(&convert_stochastically, target, {source, source, type::b32}).flags = flags;
}

/// cvt.pack: flags are the bits of an element, `immediate` whether it is signed.
void pack(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const bits = o.flags;
  auto const is_signed = o.immediate != 0;
  each_lane(mask, [=](unsigned i) {
    auto const element = [=](std::byte const* source) {
      auto const value = clamped_to<std::int64_t>(load<std::int32_t>(source, i), bits, is_signed);
      return static_cast<std::uint32_t>(value) & ((1U << bits) - 1);
    };
    auto const rest = bits < 16 ? load<std::uint32_t>(c, i) << (2 * bits) : 0U;
    store(d, i, rest | element(a) << bits | element(b));
  });
}

void decode_pack(decoding& d)
{
  static constexpr std::string_view k_words[] = {"u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"};
  if (!d.take("sat") || !d.take("s32")) d.fail_unsupported("it has no .sat or no .s32");
  for (std::size_t i = 0; i < std::size(k_words); ++i) {
    if (!d.take(k_words[i])) continue;
    auto const bits = 2U << (i / 2);
    if (bits < 16 && !d.take("b32")) d.fail_unsupported("it has no .b32");
    auto& o = bits < 16 ? d.emit(&pack, type::b32, {type::s32, type::s32, type::b32})
                        : d.emit(&pack, type::b32, {type::s32, type::s32});
    if (bits == 16) o.c = o.a;
    o.flags = bits;
    o.immediate = i % 2;
    return;
  }
  d.fail_unsupported("not a supported type");
}

/// Decodes a cvt of one of these forms. False: it is of another form. @throws code_error (refused).
bool decode_special_conversion(decoding& d)
{
  if (d.take("pack"))
    decode_pack(d);
  else if (d.take("tf32"))
    decode_tf32(d);
  else if (decode_small_conversion(d))
    return true;
  else if (d.take("rs"))
    decode_stochastic(d);
  else if (d.take("satfinite")) {
    auto const flags = k_finite_flag | (d.take("relu") ? k_relu_flag : 0U);
    auto const source = d.take_type();
    if (source != type::f32) d.fail_unsupported("not a supported type");
    decode_finite(d, d.take_type(), flags);
  } else {
    return false;
  }
  return true;
}

// Conversion of one value of a plain type to another.

/// The modifiers of a cvt; in operation::immediate.
struct conversion {
  std::uint8_t source_stride = 0;  ///< bytes of a lane of the source register
  std::uint8_t result_stride = 0;  ///< bytes of a lane of the result register
  bool saturate = false;
  bool ftz = false;
  bool relu = false;
  bool integral = false;  ///< .rni, .rzi, …: round to an integer
  interpreter::rounding rounding = rounding::to_nearest;
};
static_assert(sizeof(conversion) == sizeof(operation::immediate));

inline conversion conversion_of(operation const& o) noexcept
{
  return std::bit_cast<conversion>(o.immediate);
}

template <typename T>
constexpr bool k_is_half =
    std::is_same_v<T, half_float::binary16> || std::is_same_v<T, half_float::bfloat16>;

/// Reads the low bytes of a register's lane.
template <typename T>
T read(std::byte const* lanes, unsigned lane, unsigned stride) noexcept
{
  T value;
  std::memcpy(&value, lanes + lane * stride, sizeof(T));
  return value;
}

/// Writes an integer, extended to the width of its register: `Stride` bytes.
template <unsigned Stride, typename T>
void write(std::byte* lanes, unsigned lane, T value) noexcept
{
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  auto const bits = static_cast<std::uint64_t>(static_cast<wide>(value));
  std::memcpy(lanes + lane * Stride, &bits, Stride);
}

template <typename D, typename S>
D clamped(S value) noexcept
{
  if (std::cmp_less(value, std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (std::cmp_greater(value, std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

/// An integer rounded to odd: rounding the double once more gives the same as rounding the integer.
template <typename S>
double to_odd_double(S value) noexcept
{
  if constexpr (sizeof(S) < 8) {
    return static_cast<double>(value);
  } else {
    bool const negative = std::is_signed_v<S> && value < S{0};
    auto magnitude =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (magnitude >> 53 != 0)
      magnitude = (magnitude | ((magnitude & 0x7FF) != 0 ? 0x800U : 0U)) & ~0x7FFULL;
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
}

/// Of a signaling NaN, a quiet one: what std::trunc() and others do depends on the processor.
inline double integral(double value, rounding mode) noexcept
{
  if (std::isnan(value)) return quiet(value);
  switch (mode) {
    case rounding::to_zero:
      return std::trunc(value);
    case rounding::downward:
      return std::floor(value);
    case rounding::upward:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

/// A NaN of a half as a quiet NaN of f64 with its payload.
template <typename Half>
double widened_nan(std::uint16_t bits) noexcept
{
  auto const sign = std::uint64_t{bits & 0x8000U} << 48;
  return quiet(std::bit_cast<double>(sign | 0x7FF0000000000000 |
                                     std::uint64_t{bits & 0x7FFFU} << (52 - Half::k_fraction)));
}

template <typename S>
double read_real(std::byte const* lanes, unsigned lane, conversion const& conversion) noexcept
{
  if constexpr (k_is_half<S>) {
    auto const bits = read<std::uint16_t>(lanes, lane, conversion.source_stride);
    auto const value = to_double(S{bits});
    return std::isnan(value) ? widened_nan<S>(bits) : value;
  } else if constexpr (sizeof(S) == 4) {
    auto const value = read<float>(lanes, lane, conversion.source_stride);
    return static_cast<double>(conversion.ftz ? flushed(value) : value);
  } else {
    return read<double>(lanes, lane, conversion.source_stride);
  }
}

/// Values beyond the range become its limits. NaN becomes 0; if either type has 64 bits, it becomes
/// the highest bit (measured on an H200).
template <typename D, typename S>
D to_integer(double value, rounding mode) noexcept
{
  using limits = std::numeric_limits<D>;
  if (std::isnan(value)) {
    if constexpr (sizeof(D) == 8 || sizeof(S) == 8)
      return static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1));
    return D{0};
  }
  auto const integer = integral(value, mode);
  constexpr auto k_min = static_cast<double>(limits::min());
  constexpr auto k_beyond = sizeof(D) == 8 ? (std::is_signed_v<D> ? 0x1p63 : 0x1p64)
                                           : static_cast<double>(limits::max()) + 1;
  if (integer <= k_min) return limits::min();
  if (integer >= k_beyond) return limits::max();
  return static_cast<D>(integer);
}

/// Writes `value`, which is exact, rounded to D.
template <typename D>
void write_real(std::byte* lanes, unsigned lane, double value,
                conversion const& conversion) noexcept
{
  if (conversion.relu && !(value > 0) && !std::isnan(value)) value = 0;
  if constexpr (k_is_half<D>) {
    auto const result = half_float::round_to<D>(value, conversion.rounding);
    store(lanes, lane,
          conversion.saturate ? half_float::round_to<D>(saturated(to_double(result))).bits
                              : result.bits);
  } else {
    auto result = static_cast<D>(value);
    if constexpr (sizeof(D) == 4) result = conversion.ftz ? flushed(result) : result;
    store(lanes, lane, conversion.saturate ? saturated(result) : result);
  }
}

/// A NaN of f64 as a quiet NaN of a half with the upper bits of its payload.
template <typename Half>
std::uint16_t narrowed_nan(double nan) noexcept
{
  auto const bits = std::bit_cast<std::uint64_t>(quiet(nan));
  return static_cast<std::uint16_t>((bits >> 48 & 0x8000U) |
                                    (bits >> (52 - Half::k_fraction) & 0x7FFFU));
}

/// Converted to f32, a NaN of f32 or f16 becomes the canonical NaN; a NaN of f64 keeps its payload.
template <typename D, typename S>
double with_nan(double value) noexcept
{
  constexpr auto k_is_canonical =
      std::is_same_v<D, float> &&
      (std::is_same_v<S, float> || std::is_same_v<S, half_float::binary16>);
  return k_is_canonical && std::isnan(value) ? static_cast<double>(std::bit_cast<float>(k_nan))
                                             : value;
}

using half_float::bfloat16;
using half_float::binary16;

template <unsigned ResultStride, unsigned SourceStride, typename D, typename S>
[[gnu::always_inline]] inline void convert_integers(std::byte* d, std::byte const* a, bool saturate,
                                                    lane_mask mask)
{
  if (saturate)
    each_lane(mask, [=](unsigned i) {
      write<ResultStride>(d, i, clamped<D>(read<S>(a, i, SourceStride)));
    });
  else
    each_lane(mask, [=](unsigned i) {
      write<ResultStride>(d, i, static_cast<D>(read<S>(a, i, SourceStride)));
    });
}

template <unsigned ResultStride, typename D, typename S>
[[gnu::always_inline]] inline void convert_integers_to(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  if constexpr (sizeof(S) <= 2)
    if (conversion.source_stride == 2)
      return convert_integers<ResultStride, 2, D, S>(d, a, conversion.saturate, mask);
  if constexpr (sizeof(S) <= 4)
    if (conversion.source_stride == 4)
      return convert_integers<ResultStride, 4, D, S>(d, a, conversion.saturate, mask);
  convert_integers<ResultStride, 8, D, S>(d, a, conversion.saturate, mask);
}

template <typename D, typename S>
void integer_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const stride = conversion_of(o).result_stride;
  if constexpr (sizeof(D) <= 2)
    if (stride == 2) return convert_integers_to<2, D, S>(w, o, mask);
  if constexpr (sizeof(D) <= 4)
    if (stride == 4) return convert_integers_to<4, D, S>(w, o, mask);
  convert_integers_to<8, D, S>(w, o, mask);
}

template <typename D, typename S>
void integer_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  rounding_scope const scope(k_is_half<D> ? rounding::to_nearest : conversion.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = read<S>(a, i, conversion.source_stride);
    if constexpr (k_is_half<D>) {
      write_real<D>(d, i, to_odd_double(value), conversion);
    } else {
      auto const real = static_cast<D>(value);
      store(d, i, conversion.saturate ? saturated(real) : real);
    }
  });
}

template <unsigned Stride, typename D, typename S>
[[gnu::always_inline]] inline void convert_reals_to(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    write<Stride>(d, i, to_integer<D, S>(read_real<S>(a, i, conversion), conversion.rounding));
  });
}

template <typename D, typename S>
void real_to_integer(warp& w, operation const& o, lane_mask mask)
{
  auto const stride = conversion_of(o).result_stride;
  if constexpr (sizeof(D) <= 2)
    if (stride == 2) return convert_reals_to<2, D, S>(w, o, mask);
  if constexpr (sizeof(D) <= 4)
    if (stride == 4) return convert_reals_to<4, D, S>(w, o, mask);
  convert_reals_to<8, D, S>(w, o, mask);
}

/// bf16 is the upper half of f32.
void widen_bfloat(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const bits = std::uint32_t{read<std::uint16_t>(a, i, conversion.source_stride)} << 16;
    auto const value =
        conversion.ftz ? flushed(std::bit_cast<float>(bits)) : std::bit_cast<float>(bits);
    store(d, i, std::bit_cast<std::uint32_t>(conversion.saturate ? saturated(value) : value));
  });
}

#ifdef FATLINK_HAS_LEVEL_3
/// Whether a cvt to or from half numbers only rounds to nearest, for all lanes: then processors of
/// x86-64-v3 have instructions for it.
bool is_plain(conversion const& conversion, lane_mask mask) noexcept
{
  return has_level_3 && mask == k_all_lanes && conversion.rounding == rounding::to_nearest &&
         !conversion.integral && !conversion.saturate && !conversion.relu && !conversion.ftz;
}
#endif

template <typename D, typename S>
void real_to_real(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
#ifdef FATLINK_HAS_LEVEL_3
  constexpr auto k_widens = std::is_same_v<S, binary16> && std::is_same_v<D, float>;
  if constexpr (k_widens)
    if (is_plain(conversion, mask) && conversion.source_stride == sizeof(std::uint16_t))
      return half_vectors::widen_lanes(d, a);
  if constexpr (k_is_half<D> && std::is_same_v<S, float>)
    if (is_plain(conversion, mask) && conversion.source_stride == sizeof(float))
      return half_vectors::narrow_lanes<D>(d, a);
#endif
  rounding_scope const scope(k_is_half<D> || conversion.integral ? rounding::to_nearest
                                                                 : conversion.rounding);
  each_lane(mask, [=](unsigned i) {
    auto const value = with_nan<D, S>(read_real<S>(a, i, conversion));
    if constexpr (k_is_half<D> && std::is_same_v<S, double>)
      if (std::isnan(value) && !conversion.saturate) return store(d, i, narrowed_nan<D>(value));
    write_real<D>(d, i, conversion.integral ? integral(value, conversion.rounding) : value,
                  conversion);
  });
}

/// cvt.f16x2.f32 d, a, b: a becomes the upper half.
template <typename Half>
void pair_of_halves(warp& w, operation const& o, lane_mask mask)
{
  auto const conversion = conversion_of(o);
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
#ifdef FATLINK_HAS_LEVEL_3
  if (is_plain(conversion, mask)) return half_vectors::narrow_pairs<Half>(d, a, b);
#endif
  each_lane(mask, [=](unsigned i) {
    auto const upper = static_cast<double>(load<float>(a, i));
    auto const lower = static_cast<double>(load<float>(b, i));
    write_real<Half>(d, 2 * i, lower, conversion);
    write_real<Half>(d, 2 * i + 1, upper, conversion);
  });
}

template <typename Make>
handler for_any_integer(decoding const& d, type type, Make const& make)
{
  if (type == type::u8 || type == type::b8) return make.template operator()<std::uint8_t>();
  if (type == type::s8) return make.template operator()<std::int8_t>();
  return for_integer(d, type, make);
}

template <typename Make>
handler for_real(decoding const& d, type type, Make const& make)
{
  switch (type) {
    case type::f16:
      return make.template operator()<binary16>();
    case type::bf16:
      return make.template operator()<bfloat16>();
    case type::f32:
      return make.template operator()<float>();
    case type::f64:
      return make.template operator()<double>();
    default:
      d.fail_unsupported();
  }
}

handler pick_conversion(decoding const& d, type target, type source)
{
  if (target == type::f32 && source == type::bf16) return for_host<&widen_bfloat>();
  if (is_float(target) && is_float(source))
    return for_real(d, target, [&]<typename D>() -> handler {
      return for_real(d, source,
                      []<typename S>() -> handler { return for_host<&real_to_real<D, S>>(); });
    });
  if (is_float(target))
    return for_real(d, target, [&]<typename D>() -> handler {
      return for_any_integer(
          d, source, []<typename S>() -> handler { return for_host<&integer_to_real<D, S>>(); });
    });
  if (is_float(source))
    return for_any_integer(d, target, [&]<typename D>() -> handler {
      return for_real(d, source,
                      []<typename S>() -> handler { return for_host<&real_to_integer<D, S>>(); });
    });
  return for_any_integer(d, target, [&]<typename D>() -> handler {
    return for_any_integer(
        d, source, []<typename S>() -> handler { return for_host<&integer_to_integer<D, S>>(); });
  });
}

/// `may_be_integral`: whether .rni, .rzi, … are possible, too.
void take_cvt_rounding(decoding& d, conversion& conversion, bool may_be_integral)
{
  struct mode {
    std::string_view word;
    rounding value;
  };
  static constexpr mode k_modes[] = {{"rn", rounding::to_nearest},
                                     {"rz", rounding::to_zero},
                                     {"rm", rounding::downward},
                                     {"rp", rounding::upward}};
  for (auto const& [word, value] : k_modes) {
    if (d.take(word)) conversion.rounding = value;
    if (may_be_integral && d.take(std::string(word) + "i")) {
      conversion.rounding = value;
      conversion.integral = true;
    }
  }
}

/// Takes the modifiers that a conversion between these types has.
conversion take_modifiers(decoding& d, type target, type source)
{
  conversion conversion;
  auto const is_pair = target == type::f16x2 || target == type::bf16x2;
  if (is_float(source) || is_float(target)) take_cvt_rounding(d, conversion, is_float(source));
  if (!is_pair && (source == type::f32 || target == type::f32)) conversion.ftz = d.take("ftz");
  if (!is_pair) conversion.saturate = d.take("sat");
  if (source == type::f32 && is_half(target)) conversion.relu = d.take("relu");
  return conversion;
}

void emit_conversion(decoding& d, handler run, conversion const& conversion, operand_offset result,
                     operand_offset a, operand_offset b)
{
  auto& o = d.emit(run);
  o.d = result;
  o.a = a;
  o.b = b;
  o.immediate = std::bit_cast<std::uint64_t>(conversion);
}

/// The type of the register `operand`, which may be wider than `type`, the instruction's type.
type choose_register_type(decoding const& d, syntax::operand const& operand, type type)
{
  auto const width = d.width_of(operand);
  if (width <= size_of(type)) return type;
  return width == 8 ? type::b64 : width == 4 ? type::b32 : type::b16;
}

/// cvt.f16x2.f32 d, a, b.
void decode_pair(decoding& d, type target, type source, conversion const& conversion)
{
  if (source != type::f32) d.fail_unsupported();
  d.expect_count(3, 3);
  auto const a = d.source(1, source);
  auto const b = d.source(2, source);
  auto const run = target == type::f16x2 ? for_host<&pair_of_halves<binary16>>()
                                         : for_host<&pair_of_halves<bfloat16>>();
  emit_conversion(d, run, conversion, d.destination(0, target), a, b);
}

void decode_cvt(decoding& d)
{
  if (decode_special_conversion(d)) return;
  auto const source = d.take_type();
  auto const target = d.take_type();
  auto conversion = take_modifiers(d, target, source);
  if (target == type::f16x2 || target == type::bf16x2)
    return decode_pair(d, target, source, conversion);
  d.expect_count(2, 2);
  auto const source_type = choose_register_type(d, d.operand(1), source);
  auto const result_type =
      is_float(target) ? target : choose_register_type(d, d.operand(0), target);
  conversion.source_stride = static_cast<std::uint8_t>(std::max(size_of(source_type), 2U));
  conversion.result_stride = static_cast<std::uint8_t>(std::max(size_of(result_type), 2U));
  auto const a = d.source(1, source_type);
  auto const result = d.destination(0, result_type);
  emit_conversion(d, pick_conversion(d, target, source), conversion, result, a, k_no_operand);
}

}  // namespace

void add_convert(decode_table& table)
{
  table["cvt"] = &decode_cvt;
}

}  // namespace fatlink::interpreter
