// SPDX-License-Identifier: Apache-2.0
// Steps of floating-point instructions around the arithmetic: flush denormals, saturate, round in a
// direction, return the canonical NaN. Host and PTX both compute as IEEE 754 specifies.
// Source: PTX ISA 9.0, "Floating-Point Instructions"; which NaN: measured on an H200.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace fatlink::interpreter {

template <typename F>
using bits_for = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

/// The NaN that f32 arithmetic returns, for any operands.
constexpr std::uint32_t k_nan = 0x7FFFFFFF;

inline float canonical(float value) noexcept
{
  return std::isnan(value) ? std::bit_cast<float>(k_nan) : value;
}
/// f64 returns a NaN operand as a quiet NaN, and creates 0xFFF8…, as x86-64 does.
inline double canonical(double value) noexcept
{
  return value;
}

inline double quiet(double nan) noexcept
{
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) | 0x0008000000000000);
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

/// Sets the rounding mode (FE_TONEAREST, …) for its lifetime. FE_TONEAREST costs nothing.
class rounding_scope {
 public:
  explicit rounding_scope(int mode) noexcept : mode_(mode)
  {
    if (mode_ != FE_TONEAREST) std::fesetround(mode_);
  }
  ~rounding_scope()
  {
    if (mode_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  }
  rounding_scope(rounding_scope const&) = delete;
  rounding_scope& operator=(rounding_scope const&) = delete;

 private:
  int mode_;
};

}  // namespace fatlink::interpreter
