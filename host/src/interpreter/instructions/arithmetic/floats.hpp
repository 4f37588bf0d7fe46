// SPDX-License-Identifier: Apache-2.0
// What floating-point instructions have in common: the steps around the arithmetic (flush
// denormals, saturate, round in a direction, return the canonical NaN), and modifiers. Host and PTX
// both compute as IEEE 754 specifies. Source: PTX ISA 9.0, "Floating-Point Instructions"; which
// NaN: measured on an H200.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/cpu_level.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

template <typename F>
using bits_for = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

/// The NaN that f32 arithmetic returns, for any operands.
constexpr std::uint32_t k_nan = 0x7FFFFFFF;

inline float canonical(float value) noexcept
{
  return std::isnan(value) ? std::bit_cast<float>(k_nan) : value;
}
/// f64 returns a NaN operand as a quiet NaN. The operations choose it, and set what they create.
inline double canonical(double value) noexcept
{
  return value;
}

inline double quiet(double nan) noexcept
{
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) | 0x0008000000000000);
}

/// The result of an operation on f64 whose operands are numbers. A NaN is 0xFFF8…, which x86-64
/// creates as well; AArch64 creates 0x7FF8….
inline double created(double result) noexcept
{
  if constexpr (k_is_x86_64) return result;
  return std::isnan(result) ? std::bit_cast<double>(0xFFF8000000000000) : result;
}

/// `result`, or a NaN operand: of two, the second one, as on an H100. A host's compiler may
/// exchange the operands of a sum or product.
inline double chosen_nan(double a, double b, double result) noexcept
{
  auto const first = std::isnan(a) ? quiet(a) : result;
  return std::isnan(b) ? quiet(b) : first;
}

/// `result`, or a NaN operand: of two, the first one. x86-64 does this itself, if the compiler
/// cannot exchange the operands.
inline double first_nan(double a, double b, double result) noexcept
{
  if constexpr (k_is_x86_64) return result;
  return chosen_nan(b, a, created(result));
}

/// a · b + c. Of several NaN operands, b before c before a: processors choose by the order of the
/// registers.
inline double fused(double a, double b, double c) noexcept
{
  auto const result = created(std::fma(a, b, c));
  auto const of_a = std::isnan(a) ? quiet(a) : result;
  return chosen_nan(c, b, of_a);
}

/// A denormal becomes zero with the same sign.
inline float flushed(float value) noexcept
{
  auto const bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits);
}

template <bool Ftz, typename F>
F flushed_if(F value) noexcept
{
  if constexpr (Ftz && sizeof(F) == 4) return flushed(value);
  return value;
}

/// Clamps to [0, 1]; NaN becomes +0.
template <typename F>
F saturated(F value) noexcept
{
  if (!(value > F{0})) return F{0};
  return value < F{1} ? value : F{1};
}

using half_float::rounding;

/// Sets the rounding mode for its lifetime. To nearest costs nothing.
class rounding_scope {
 public:
  explicit rounding_scope(rounding mode) noexcept : mode_(mode)
  {
    constexpr int k_modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (mode_ != rounding::to_nearest) std::fesetround(k_modes[static_cast<unsigned>(mode)]);
  }
  ~rounding_scope()
  {
    if (mode_ != rounding::to_nearest) std::fesetround(FE_TONEAREST);
  }
  rounding_scope(rounding_scope const&) = delete;
  rounding_scope& operator=(rounding_scope const&) = delete;

 private:
  rounding mode_;
};

// Modifiers that floating-point instructions have in common, as operation::flags hold them.

constexpr std::uint32_t k_rounding = 0xFFFF;  ///< the bits of a `rounding`
constexpr std::uint32_t k_saturate = 0x10000;

inline rounding rounding_of(std::uint32_t flags) noexcept
{
  return static_cast<rounding>(flags & k_rounding);
}

/// Takes .rn, .rz, .rm or .rp. To nearest unless stated.
inline rounding take_rounding(decoding& d)
{
  if (d.take("rz")) return rounding::to_zero;
  if (d.take("rm")) return rounding::downward;
  if (d.take("rp")) return rounding::upward;
  (void)d.take("rn");
  return rounding::to_nearest;
}

/// f16 or bf16, one or two.
inline bool is_half(type type) noexcept
{
  return type == type::f16 || type == type::f16x2 || type == type::bf16 || type == type::bf16x2;
}

/// f16, one or two: of the halves, only these have .ftz and .sat.
inline bool is_binary16(type type) noexcept
{
  return type == type::f16 || type == type::f16x2;
}

// What one family decodes for another. The type is taken already. @throws code_error (refused).
/// add, sub, mul, div, fma, min, max, abs and neg of f32, f64 and f32x2.
void decode_float_arithmetic(decoding& d, std::string_view name, type type);
/// The same of f16, bf16 and pairs of them.
void decode_half_arithmetic(decoding& d, std::string_view name, type type);
/// `name`.f32.`type`: add, sub and fma of f32 with operands `type` of 16 bits.
void decode_mixed_arithmetic(decoding& d, std::string_view name, type type);
/// min and max with .xorsign.abs or of three inputs. False: it is of another form.
bool decode_special_extreme(decoding& d, bool max, type type);
/// An instruction whose modifier `.approx` is taken already.
void decode_approximation(decoding& d, std::string_view name, type type);
/// div.approx.f32 and div.full.f32, whose modifier is taken already.
void decode_approximate_division(decoding& d, type type);
void decode_full_division(decoding& d, type type);

}  // namespace fatlink::interpreter
