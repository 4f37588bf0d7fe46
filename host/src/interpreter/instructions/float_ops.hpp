// SPDX-License-Identifier: Apache-2.0
// What floating-point instructions do beside arithmetic: flush denormals, saturate, round in a
// direction, and give one NaN. The host's arithmetic is IEEE 754's, as PTX's is.
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

/// The NaN that arithmetic in f32 gives, whatever its operands.
constexpr std::uint32_t k_nan = 0x7FFFFFFF;

inline float canonical(float value) noexcept
{
  return std::isnan(value) ? std::bit_cast<float>(k_nan) : value;
}
/// In f64 a NaN operand goes through, quiet, and a new NaN is 0xFFF8…: as on x86-64.
inline double canonical(double value) noexcept
{
  return value;
}

/// Zero of the same sign for a denormal.
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

/// To [0, 1]; NaN becomes +0.
template <typename F>
F saturated(F value) noexcept
{
  if (!(value > F{0})) return F{0};
  return value < F{1} ? value : F{1};
}

/// FE_TONEAREST and its like while it lives. Costs nothing for FE_TONEAREST.
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
