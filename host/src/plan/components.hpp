// SPDX-License-Identifier: Apache-2.0
// The numbers that an element consists of, for verification: floats as double, which is exact;
// integers exact in 128 bits. Sources of the formats: IEEE 754; util/bytes/half_float.hpp.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "expression/program.hpp"
#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// One number of an element.
struct component {
  std::string name = {};  ///< "" of a number, "value" of a record, "real", "value.imag"
  scalar_kind kind = scalar_kind::float32;  ///< no complex one; bytes: one byte without meaning
  std::size_t offset = 0;                   ///< in the element
  int partner = 0;  ///< of a complex number: where its other part is in the list, 1 or -1; else 0
};

std::size_t size_of(scalar_kind kind) noexcept;  ///< bytes of a number; 1 of bytes

/// The numbers of an element, in the order of their offsets.
std::vector<component> components_of(element_type const& type);

/// A number: of integers `whole` and its nearest double, of floats `real`.
struct number {
  double real = 0;
  int128 whole = 0;
};

bool is_integer(scalar_kind kind) noexcept;

/// `value`, with the nearest double.
inline number whole_number(int128 value) noexcept
{
  return {.real = static_cast<double>(value), .whole = value};
}

/// The number of `kind` at `place`, which need not be aligned.
number load(scalar_kind kind, std::byte const* place) noexcept;

/// Memory of `Value`s that lie `step` of them apart.
template <typename Value>
struct strided {
  Value* first;
  std::size_t step;
};

/// As load() for `count` numbers.
void load_block(scalar_kind kind, strided<std::byte const> from, std::size_t count,
                strided<number> to) noexcept;

/// Writes `value` as `kind`, rounded to nearest or wrapped, as store() of a device does.
void store(scalar_kind kind, number const& value, std::byte* place) noexcept;

/// `value` modulo 2^bits of the integer type `kind`, in its range.
int128 wrapped(scalar_kind kind, int128 value) noexcept;

/// `value` without its fraction, in the range of `kind`: the nearest limit beyond it; 0 for NaN.
int128 truncated(scalar_kind kind, double value) noexcept;

/// A float format's precision in bits with the hidden one, and its range.
struct float_format {
  int precision = 53;
  int least_exponent = -1022;  ///< of a normal number
  int most_exponent = 1023;

  /// Half of the spacing at 1: the largest relative error of a rounding to nearest.
  [[nodiscard]] double unit_roundoff() const noexcept;
  /// The distance of neighbours at `value`, never below the least denormal. Infinity for infinity.
  [[nodiscard]] double spacing_at(double value) const noexcept;
  /// The least real number that rounds to infinity; infinity for float64.
  [[nodiscard]] double overflow() const noexcept;
  [[nodiscard]] double least_denormal() const noexcept;
};

/// Of float16, bfloat16, float32 or float64.
constexpr float_format format_of(scalar_kind kind) noexcept
{
  switch (kind) {
    case scalar_kind::float16:
      return {.precision = 11, .least_exponent = -14, .most_exponent = 15};
    case scalar_kind::bfloat16:
      return {.precision = 8, .least_exponent = -126, .most_exponent = 127};
    case scalar_kind::float32:
      return {.precision = 24, .least_exponent = -126, .most_exponent = 127};
    default:
      return {};
  }
}

/// As text: an integer in full, a float with the digits that distinguish it.
std::string to_text(scalar_kind kind, number const& value);

/// type.size bytes, little-endian, padding zero. `value`: a number; "inf", "-inf" or "nan"; two
/// numbers (complex; one is the real part); an object with a number for each field (records), or a
/// number for all fields; 0 for bytes without meaning.
/// @throws std::invalid_argument it is not a value of `type`; what() is the cause.
std::vector<std::byte> encode_value(element_type const& type, nlohmann::json const& value);

}  // namespace fatlink::detail
