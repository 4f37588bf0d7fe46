// SPDX-License-Identifier: Apache-2.0
// Arithmetic on f16 and bf16 numbers by their bits: one number, and eight at a time with AVX2 and
// F16C for processors of x86-64-v3. Both take the same steps; the results are the same bits.
// Source: PTX ISA 9.0, "Half Precision Floating-Point Instructions".
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "util/bytes/half_float.hpp"

#ifdef FATLINK_HAS_LEVEL_3
#include <immintrin.h>
#endif

namespace fatlink::interpreter {

namespace half_numbers {

using half_float::add_rounding_to_odd;
using half_float::binary16;
using half_float::round_to_nearest;
using half_float::to_float;

enum half_flags : std::uint32_t { k_ftz = 1, k_saturate = 2, k_relu = 4, k_nan_wins = 8 };

template <typename Half>
constexpr auto k_exponent = static_cast<std::uint16_t>(0x7FFF >> Half::k_fraction
                                                                     << Half::k_fraction);

template <typename Half>
std::uint16_t flushed(std::uint16_t bits) noexcept
{
  return (bits & k_exponent<Half>) == 0 ? static_cast<std::uint16_t>(bits & 0x8000) : bits;
}

template <typename Half>
bool is_nan(std::uint16_t bits) noexcept
{
  return (bits & 0x7FFF) > k_exponent<Half>;
}

/// The modifiers of a result: .ftz, .sat, .relu.
template <typename Half>
std::uint16_t modified(std::uint16_t bits, std::uint32_t flags) noexcept
{
  auto const one = round_to_nearest<Half>(1.0F).bits;
  auto const is_negative = (bits & 0x8000) != 0;
  if ((flags & k_ftz) != 0) bits = flushed<Half>(bits);
  if ((flags & k_saturate) != 0)
    return is_negative || is_nan<Half>(bits) ? std::uint16_t{0} : std::min(bits, one);
  if ((flags & k_relu) != 0 && is_negative && !is_nan<Half>(bits)) return 0;
  return bits;
}

// Operations on f32. The operands have 11 or 8 bits and f32 has 24: a sum or difference in f32
// rounds innocuously, since 24 >= 2 · 11 + 2 (Figueroa, 1995), and sums that are denormal are
// exact. A product is exact, or far below the smallest denormal of bf16. A sum of three is rounded
// to odd.
struct op_add {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a + b;
  }
};
struct op_subtract {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a - b;
  }
};
struct op_multiply {
  template <typename Half>
  static float apply(float a, float b, float) noexcept
  {
    return a * b;
  }
};

/// To f32, rounded to odd.
inline float to_odd_float(double value) noexcept
{
  auto const nearest = static_cast<float>(value);
  auto const bits = std::bit_cast<std::uint32_t>(nearest);
  auto const magnitude = std::abs(static_cast<double>(nearest));
  auto const is_exact = magnitude == std::abs(value) || (bits & 1) != 0;
  auto const is_special = (bits & 0x7F800000U) == 0x7F800000U;
  auto const neighbor = magnitude < std::abs(value) ? bits + 1 : bits - 1;
  return std::bit_cast<float>(is_exact || is_special ? bits : neighbor);
}

/// f16: the product is exact in f32, as it has 22 bits and an exponent of at least -48, and so is
/// the error of the sum. bf16: products have the exponents of f64.
struct op_fma {
  template <typename Half>
  static float apply(float a, float b, float c) noexcept
  {
    if constexpr (std::is_same_v<Half, binary16>) return add_rounding_to_odd(a * b, c);
    return to_odd_float(add_rounding_to_odd(static_cast<double>(a) * static_cast<double>(b),
                                            static_cast<double>(c)));
  }
};

template <typename Half, typename Op>
std::uint16_t computed(std::uint16_t a, std::uint16_t b, std::uint16_t c) noexcept
{
  return round_to_nearest<Half>(
             Op::template apply<Half>(to_float(Half{a}), to_float(Half{b}), to_float(Half{c})))
      .bits;
}

/// −0 is less than +0. If one operand is NaN, the result is the other one, or NaN with `.NaN`.
template <typename Half, bool Max>
std::uint16_t extreme(std::uint16_t a, std::uint16_t b, bool nan_wins) noexcept
{
  using u16 = std::uint16_t;
  using s16 = std::int16_t;
  constexpr s16 k_infinity = static_cast<s16>(k_exponent<Half>);
  // By masks of 16 bits, so that the loop is vectorised. A key has the order of the numbers.
  auto const mask = [](bool condition) { return static_cast<u16>(condition ? 0xFFFF : 0); };
  auto const key = [](u16 bits) {
    return static_cast<s16>(bits ^ (static_cast<u16>(static_cast<s16>(bits) >> 15) & 0x7FFF));
  };
  auto const a_is_nan = mask(static_cast<s16>(a & 0x7FFF) > k_infinity);
  auto const b_is_nan = mask(static_cast<s16>(b & 0x7FFF) > k_infinity);
  auto const a_is_less = mask(key(a) < key(b));
  auto const prefers_b = static_cast<u16>((Max ? a_is_less : ~a_is_less) | a_is_nan);
  auto const takes_b = static_cast<u16>(prefers_b & ~b_is_nan);
  auto const number = static_cast<u16>((b & takes_b) | (a & ~takes_b));
  auto const both = static_cast<u16>(a_is_nan & b_is_nan);
  auto const is_nan = static_cast<u16>(nan_wins ? a_is_nan | b_is_nan : both);
  return static_cast<u16>((number & ~is_nan) | (Half::k_nan & is_nan));
}

}  // namespace half_numbers

namespace half_vectors {

#ifdef FATLINK_HAS_LEVEL_3

constexpr unsigned k_width = 8;

template <typename Half>
FATLINK_LEVEL_3_INLINE __m256 widened(std::byte const* source) noexcept
{
  auto const bits = _mm_loadu_si128(reinterpret_cast<__m128i const*>(source));
  if constexpr (std::is_same_v<Half, half_float::binary16>) return _mm256_cvtph_ps(bits);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/// Rounds to nearest.
template <typename Half>
FATLINK_LEVEL_3_INLINE __m128i narrowed(__m256 value) noexcept
{
  auto const nan = _mm_set1_epi16(static_cast<short>(Half::k_nan));
  if constexpr (std::is_same_v<Half, half_float::binary16>) {
    auto const bits = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
    auto const magnitude = _mm_and_si128(bits, _mm_set1_epi16(0x7FFF));
    return _mm_blendv_epi8(bits, nan, _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7C00)));
  }
  auto const bits = _mm256_castps_si256(value);
  auto const odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  auto const sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  auto const is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  auto const result =
      _mm256_blendv_epi8(_mm256_srli_epi32(sum, 16), _mm256_set1_epi32(Half::k_nan), is_nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1));
}

/// half_float::add_rounding_to_odd for f32.
FATLINK_LEVEL_3_INLINE __m256 sum_rounded_to_odd(__m256 a, __m256 b) noexcept
{
  auto const sum = _mm256_add_ps(a, b);
  auto const part = _mm256_sub_ps(sum, a);
  auto const error =
      _mm256_add_ps(_mm256_sub_ps(a, _mm256_sub_ps(sum, part)), _mm256_sub_ps(b, part));
  auto const bits = _mm256_castps_si256(sum);
  auto const is_inexact =
      _mm256_castps_si256(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ));
  auto const odd = _mm256_set1_epi32(1);
  auto const is_even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, odd), _mm256_setzero_si256());
  // 1 if the error has the sum's sign, otherwise -1.
  auto const signs = _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(error, sum)), 31);
  auto const step =
      _mm256_and_si256(_mm256_or_si256(signs, odd), _mm256_and_si256(is_inexact, is_even));
  return _mm256_castsi256_ps(_mm256_add_epi32(bits, step));
}

/// Whether each of `Bytes` bytes of bf16 numbers is zero or of a magnitude between 2^-50 and 2^60:
/// then products are exact in f32, no sum of them overflows, and no error of a sum is a denormal.
template <unsigned Bytes>
FATLINK_LEVEL_3_INLINE bool have_middle_exponents(std::byte const* numbers) noexcept
{
  constexpr short k_least = (127 - 50) << 7;
  constexpr short k_range = (50 + 60) << 7;
  auto outside = _mm256_setzero_si256();
  for (unsigned i = 0; i < Bytes; i += sizeof(__m256i)) {
    auto const bits = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(numbers + i));
    auto const magnitude = _mm256_and_si256(bits, _mm256_set1_epi16(0x7FFF));
    auto const distance = _mm256_sub_epi16(magnitude, _mm256_set1_epi16(k_least));
    auto const excess = _mm256_subs_epu16(distance, _mm256_set1_epi16(k_range));
    auto const is_zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    outside = _mm256_or_si256(outside, _mm256_andnot_si256(is_zero, excess));
  }
  return _mm256_testz_si256(outside, outside) != 0;
}

/// The smaller or greater numbers, as extreme().
template <typename Half, bool Max>
FATLINK_LEVEL_3_INLINE __m128i extremes(__m128i a, __m128i b, bool nan_wins) noexcept
{
  constexpr short k_infinity = static_cast<short>(0x7FFF >> Half::k_fraction << Half::k_fraction);
  auto const magnitude = _mm_set1_epi16(0x7FFF);
  auto const infinity = _mm_set1_epi16(k_infinity);
  auto const a_is_nan = _mm_cmpgt_epi16(_mm_and_si128(a, magnitude), infinity);
  auto const b_is_nan = _mm_cmpgt_epi16(_mm_and_si128(b, magnitude), infinity);
  // Keys have the order of the numbers.
  auto const a_key = _mm_xor_si128(a, _mm_and_si128(_mm_srai_epi16(a, 15), magnitude));
  auto const b_key = _mm_xor_si128(b, _mm_and_si128(_mm_srai_epi16(b, 15), magnitude));
  auto const prefers_b = Max ? _mm_cmpgt_epi16(b_key, a_key) : _mm_cmpgt_epi16(a_key, b_key);
  auto const takes_b = _mm_andnot_si128(b_is_nan, _mm_or_si128(prefers_b, a_is_nan));
  auto const is_nan =
      nan_wins ? _mm_or_si128(a_is_nan, b_is_nan) : _mm_and_si128(a_is_nan, b_is_nan);
  return _mm_blendv_epi8(_mm_blendv_epi8(a, b, takes_b),
                         _mm_set1_epi16(static_cast<short>(Half::k_nan)), is_nan);
}

/// cvt.f32.f16 for all lanes: every NaN becomes the canonical one of f32.
FATLINK_LEVEL_3 inline void widen_lanes(std::byte* d, std::byte const* a) noexcept
{
  for (unsigned i = 0; i < k_lanes; i += k_width) {
    auto const value = widened<half_float::binary16>(a + i * sizeof(std::uint16_t));
    auto const is_nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    auto const nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(k_nan)));
    _mm256_storeu_ps(reinterpret_cast<float*>(d + i * sizeof(float)),
                     _mm256_blendv_ps(value, nan, is_nan));
  }
}

/// cvt.rn.f16.f32 or cvt.rn.bf16.f32 for all lanes.
template <typename Half>
FATLINK_LEVEL_3 void narrow_lanes(std::byte* d, std::byte const* a) noexcept
{
  for (unsigned i = 0; i < k_lanes; i += k_width) {
    auto const value = _mm256_loadu_ps(reinterpret_cast<float const*>(a + i * sizeof(float)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i * sizeof(std::uint16_t)),
                     narrowed<Half>(value));
  }
}

/// cvt.rn.f16x2.f32 or cvt.rn.bf16x2.f32 for all lanes: `a` becomes the upper halves.
template <typename Half>
FATLINK_LEVEL_3 void narrow_pairs(std::byte* d, std::byte const* a, std::byte const* b) noexcept
{
  for (unsigned i = 0; i < k_lanes; i += k_width) {
    auto const offset = i * sizeof(float);
    auto const upper = narrowed<Half>(_mm256_loadu_ps(reinterpret_cast<float const*>(a + offset)));
    auto const lower = narrowed<Half>(_mm256_loadu_ps(reinterpret_cast<float const*>(b + offset)));
    auto* const target = reinterpret_cast<__m128i*>(d + offset);
    _mm_storeu_si128(target, _mm_unpacklo_epi16(lower, upper));
    _mm_storeu_si128(target + 1, _mm_unpackhi_epi16(lower, upper));
  }
}

#endif

}  // namespace half_vectors

}  // namespace fatlink::interpreter
