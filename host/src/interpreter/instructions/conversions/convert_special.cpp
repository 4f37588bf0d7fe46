// SPDX-License-Identifier: Apache-2.0
// cvt.pack, tf32, .satfinite of 16-bit types, stochastic rounding. Source: PTX ISA 9.0, "cvt" and
// "cvt.pack".
#include "interpreter/instructions/conversions/convert_special.hpp"

#include <algorithm>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"
#include "interpreter/instructions/video/video.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

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
  auto const rounded =
      half_float::round_to<Half>(value, static_cast<int>(flags & k_rounding_bits)).bits;
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
  if (d.take_type() != type::f32) d.refuse("not a supported type");
  auto const rounding = d.take("rna") ? k_nearest_away : d.take("rn") ? k_nearest_even : k_to_zero;
  if (rounding == k_to_zero && !d.take("rz")) d.refuse("its rounding is not .rna, .rn or .rz");
  d.emit(&convert_tf32, type::b32, {type::f32}).flags = flags | rounding;
}

/// cvt.satfinite from f32 to f16, bf16 and pairs of these.
void decode_finite(decoding& d, type target, std::uint32_t flags)
{
  if (!d.take("rn")) {
    if (!d.take("rz")) d.refuse("its rounding is neither .rn nor .rz");
    flags |= FE_TOWARDZERO;
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
      d.refuse("not a supported type");
  }
}

void decode_stochastic(decoding& d)
{
  auto const flags = take_limits(d);
  auto const source = d.take_type();
  auto const target = d.take_type();
  if (source != type::f32 || target != type::bf16x2)
    d.refuse("the PTX ISA does not state how random bits round numbers below the normal ones");
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
  if (!d.take("sat") || !d.take("s32")) d.refuse("it has no .sat or no .s32");
  for (std::size_t i = 0; i < std::size(k_words); ++i) {
    if (!d.take(k_words[i])) continue;
    auto const bits = 2U << (i / 2);
    if (bits < 16 && !d.take("b32")) d.refuse("it has no .b32");
    auto& o = bits < 16 ? d.emit(&pack, type::b32, {type::s32, type::s32, type::b32})
                        : d.emit(&pack, type::b32, {type::s32, type::s32});
    if (bits == 16) o.c = o.a;
    o.flags = bits;
    o.immediate = i % 2;
    return;
  }
  d.refuse("not a supported type");
}

}  // namespace

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
    if (source != type::f32) d.refuse("not a supported type");
    decode_finite(d, d.take_type(), flags);
  } else {
    return false;
  }
  return true;
}

}  // namespace fatlink::interpreter
