// SPDX-License-Identifier: Apache-2.0
// Unsigned integers with the order of numbers, for the hook `key` of radix sorts:
//
//   struct trade { float price; int id; };
//   FATLINK_KEY(trade, x) { return fatlink::ascending(x.price); }
//
// Both functions take integers, bool, char, __half, __nv_bfloat16, float and double, and return an
// unsigned integer of the same size.
//
// ascending(x)    as NumPy and PyTorch sort: -0 and 0 are equal, and NaN is behind every number
// descending(x)   the reverse: NaN is before every number, as in PyTorch
//
// For elements of N < 8 bytes, only the 8 N least significant bits of a key are used. The body of
// FATLINK_KEY may also return any other unsigned integer, for example two fields in one key:
// std::uint64_t{fatlink::ascending(x.a)} << 32 | fatlink::ascending(x.b).
#pragma once

#include <cstdint>

struct __half;
struct __nv_bfloat16;

namespace fatlink {
namespace detail {

template <unsigned Bytes>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = std::uint64_t;
};

/// The bits of infinity; 0 for integers.
template <typename Number>
constexpr std::uint64_t infinity_of = 0;
template <>
inline constexpr std::uint64_t infinity_of<__half> = 0x7C00;
template <>
inline constexpr std::uint64_t infinity_of<__nv_bfloat16> = 0x7F80;
template <>
inline constexpr std::uint64_t infinity_of<float> = 0x7F800000;
template <>
inline constexpr std::uint64_t infinity_of<double> = 0x7FF0000000000000;

/// For floats of 2 and 8 bytes. The keys of -infinity to infinity are 0 to `last` - 1; the key of
/// NaN is `last`.
template <typename Word>
__device__ __forceinline__ Word ascending_float(Word bits, unsigned size, Word infinity)
{
  auto const sign = Word{1} << (size - 1);
  auto const least = sign - 1 - infinity;  // of -infinity, subtracted from all keys
  auto const last = (sign | infinity) - least + 1;
  auto const key = (bits & sign) != 0 ? 2 * sign - 1 - bits : bits | sign;
  auto const shifted = key - (bits == sign ? least - 1 : least);  // -0 gets the key of 0
  return shifted < last ? shifted : last;
}

/// What the body of FATLINK_KEY returns. Floats and signed integers are refused: converting them to
/// an unsigned integer does not keep their order.
class unsigned_key {
 public:
  template <typename Number>
  __device__ __forceinline__ unsigned_key(Number key) : key_(static_cast<unsigned long long>(key))
  {
    static_assert(static_cast<Number>(-1) > static_cast<Number>(0),
                  "a key is an unsigned integer: return fatlink::ascending(x), "
                  "fatlink::descending(x), or a value of an unsigned type");
  }
  __device__ __forceinline__ operator unsigned long long() const { return key_; }

 private:
  unsigned long long key_;
};

}  // namespace detail

/// @return an unsigned integer of the size of Number
template <typename Number>
__device__ __forceinline__ auto ascending(Number number)
{
  using bits_type = typename detail::unsigned_of<sizeof(Number)>::type;
  constexpr auto k_infinity = detail::infinity_of<Number>;
  constexpr auto k_sign = static_cast<bits_type>(bits_type{1} << (8 * sizeof(Number) - 1));
  if constexpr (k_infinity != 0 && sizeof(Number) == 4) {
    // Adding 0 turns -0 into 0, and NaN into 0x7FFFFFFF; without .ftz, it keeps denormal numbers.
    float sum;
    asm("add.rn.f32 %0, %1, 0f00000000;" : "=f"(sum) : "f"(number));
    auto const bits = __builtin_bit_cast(std::int32_t, sum);
    return static_cast<bits_type>(bits ^ (bits >> 31 | static_cast<std::int32_t>(k_sign)));
  } else if constexpr (k_infinity != 0) {
    using word = typename detail::unsigned_of<sizeof(Number) == 8 ? 8 : 4>::type;
    auto const bits = __builtin_bit_cast(bits_type, number);
    return static_cast<bits_type>(
        detail::ascending_float<word>(bits, 8 * sizeof(Number), k_infinity));
  } else {
    auto const bits = __builtin_bit_cast(bits_type, number);
    constexpr auto k_is_signed = static_cast<Number>(-1) < static_cast<Number>(0);
    return static_cast<bits_type>(k_is_signed ? bits ^ k_sign : bits);
  }
}

template <typename Number>
__device__ __forceinline__ auto descending(Number number)
{
  using bits_type = typename detail::unsigned_of<sizeof(Number)>::type;
  return static_cast<bits_type>(~ascending(number));
}

}  // namespace fatlink
