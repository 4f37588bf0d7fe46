// SPDX-License-Identifier: Apache-2.0
// Conversion of one value, for cvt. Source: PTX ISA 9.0, "cvt".
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {

/// The modifiers of a cvt; in operation::immediate.
struct conversion {
  std::uint8_t source_stride = 0;  ///< bytes of a lane of the source register
  std::uint8_t result_stride = 0;  ///< bytes of a lane of the result register
  bool saturate = false;
  bool ftz = false;
  bool relu = false;
  bool integral = false;  ///< .rni, .rzi, …: round to an integer
  std::uint16_t rounding = FE_TONEAREST;
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
inline double integral(double value, int rounding) noexcept
{
  if (std::isnan(value)) return quiet(value);
  switch (rounding) {
    case FE_TOWARDZERO:
      return std::trunc(value);
    case FE_DOWNWARD:
      return std::floor(value);
    case FE_UPWARD:
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
D to_integer(double value, int rounding) noexcept
{
  using limits = std::numeric_limits<D>;
  if (std::isnan(value)) {
    if constexpr (sizeof(D) == 8 || sizeof(S) == 8)
      return static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1));
    return D{0};
  }
  auto const integer = integral(value, rounding);
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

}  // namespace fatlink::interpreter
