// SPDX-License-Identifier: Apache-2.0
// The computation of integer instructions for one lane. Overflow wraps as in hardware: signed types
// are computed as unsigned ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fatlink::interpreter {

inline namespace integer_ops {

__extension__ using wide_signed = __int128;
__extension__ using wide_unsigned = unsigned __int128;

template <typename T>
constexpr unsigned k_bits = 8 * sizeof(T);

/// A type for the product of two T. Of 16 bits exactly twice as wide: g++ 12 vectorises
/// `(int64_t)a * (int64_t)b >> 16` of two int16_t as an unsigned product
/// (cmake/build/compiler_check.cpp).
template <typename T>
using twice = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, wide_signed, wide_unsigned>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

template <typename T>
constexpr auto bits_of(T value) noexcept
{
  return static_cast<std::make_unsigned_t<T>>(value);
}

template <typename T>
constexpr T high(T a, T b) noexcept
{
  return static_cast<T>(static_cast<twice<T>>(a) * static_cast<twice<T>>(b) >> (8 * sizeof(T)));
}

template <typename T>
constexpr T low(T a, T b) noexcept
{
  return static_cast<T>(static_cast<std::uint64_t>(bits_of(a)) * bits_of(b));
}

/// Clamps to the range of integers of `bits` bits.
template <typename T>
T clamped_to(T value, unsigned bits, bool is_signed) noexcept
{
  auto const range = T{1} << (is_signed ? bits - 1 : bits);
  return std::clamp<T>(value, is_signed ? -range : T{0}, range - 1);
}

struct op_add {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(bits_of(a) + bits_of(b));
  }
};
struct op_subtract {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(bits_of(a) - bits_of(b));
  }
};
struct op_low {
  template <typename T>
  T operator()(T a, T b) const
  {
    return low(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(low(a, b), c);
  }
};
struct op_high {
  template <typename T>
  T operator()(T a, T b) const
  {
    return high(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(high(a, b), c);
  }
};
template <typename R>
struct op_wide {
  template <typename T>
  R operator()(T a, T b) const
  {
    return static_cast<R>(static_cast<R>(a) * static_cast<R>(b));
  }
  template <typename T>
  R operator()(T a, T b, R c) const
  {
    return op_add{}((*this)(a, b), c);
  }
};
struct op_min {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::min(a, b);
  }
};
struct op_max {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::max(a, b);
  }
};
struct op_and {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a & b);
  }
};
struct op_or {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a | b);
  }
};
struct op_xor {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a ^ b);
  }
};
/// PTX leaves division by zero open: the quotient and the remainder are all ones, as on an H100.
struct op_divide {
  template <typename T>
  T operator()(T a, T b) const
  {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return op_subtract{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct op_remainder {
  template <typename T>
  T operator()(T a, T b) const
  {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct op_negate {
  template <typename T>
  T operator()(T a) const
  {
    return op_subtract{}(T{0}, a);
  }
};
struct op_absolute {
  template <typename T>
  T operator()(T a) const
  {
    return a < 0 ? op_negate{}(a) : a;
  }
};
struct op_difference {
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(a < b ? op_subtract{}(b, a) : op_subtract{}(a, b), c);
  }
};
struct op_add_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const
  {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} + b, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
};
struct op_subtract_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const
  {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} - b, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
};

template <bool High>
struct op_24 {
  template <typename T>
  T operator()(T a, T b) const
  {
    using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    auto const cut = [](T value) {  // sign- or zero-extended from bit 23
      return static_cast<wide>(static_cast<wide>(value) << 40) >> 40;
    };
    auto const product = static_cast<std::uint64_t>(cut(a) * cut(b));
    return static_cast<T>(High ? product >> 16 : product);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}((*this)(a, b), c);
  }
};

struct op_high_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const
  {
    return op_add_saturated{}(high(a, b), c);
  }
};
struct op_24_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const
  {
    return op_add_saturated{}(op_24<true>{}(a, b), c);
  }
};

}  // namespace integer_ops

}  // namespace fatlink::interpreter
