// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of 64 and 128 bits, compiled for the device by nvcc and for the host by the
// host's compiler: both must give the same results for every pair of operands.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define FATLINK_TEST_FUNCTION __host__ __device__
#else
#define FATLINK_TEST_FUNCTION
#endif

namespace arithmetic {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <typename T>
struct traits {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr unsigned bits = 8 * sizeof(T);
  static constexpr T least = is_signed ? T(uint128(1) << (bits - 1)) : T(0);
};

/// Number of 64-bit words that `compute` writes for one pair of operands.
constexpr unsigned k_results = 32;

/// Number of words that chains of carries write for one pair of operands.
constexpr unsigned k_carry_results = 9;

class result_writer {
 public:
  FATLINK_TEST_FUNCTION explicit result_writer(std::uint64_t* results) : next_(results) {}
  FATLINK_TEST_FUNCTION void put(std::uint64_t value) { *next_++ = value; }
  FATLINK_TEST_FUNCTION void put(std::int64_t value) { put(std::uint64_t(value)); }
  FATLINK_TEST_FUNCTION void put(int128 value) { put(uint128(value)); }
  FATLINK_TEST_FUNCTION void put(uint128 value)
  {
    put(std::uint64_t(value));
    put(std::uint64_t(value >> 64));
  }
  FATLINK_TEST_FUNCTION void put(double value)
  {
    union {
      double value;
      std::uint64_t bits;
    } const both{value};
    put(both.bits);
  }

 private:
  std::uint64_t* next_;
};

FATLINK_TEST_FUNCTION inline std::uint64_t high_half(std::uint64_t a, std::uint64_t b)
{
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  return std::uint64_t((uint128(a) * b) >> 64);
#endif
}

FATLINK_TEST_FUNCTION inline std::int64_t high_half(std::int64_t a, std::int64_t b)
{
#ifdef __CUDA_ARCH__
  return __mul64hi(a, b);
#else
  return std::int64_t((int128(a) * b) >> 64);
#endif
}

/// The upper half of a 256-bit product, from four products of 64 bits.
FATLINK_TEST_FUNCTION inline uint128 high_half(uint128 a, uint128 b)
{
  auto const low = [](uint128 x) { return uint128(std::uint64_t(x)); };
  auto const middle = (a >> 64) * low(b) + ((low(a) * low(b)) >> 64);
  auto const other_middle = low(a) * (b >> 64) + low(middle);
  return (a >> 64) * (b >> 64) + (middle >> 64) + (other_middle >> 64);
}

FATLINK_TEST_FUNCTION inline int128 high_half(int128 a, int128 b)
{
  auto const product = high_half(uint128(a), uint128(b));
  return int128(product - (a < 0 ? uint128(b) : 0) - (b < 0 ? uint128(a) : 0));
}

/// Quotient and remainder; 0 if C++ does not define them.
template <typename T>
FATLINK_TEST_FUNCTION void divide(T a, T b, result_writer& results)
{
  bool const defined = b != 0 && !(traits<T>::is_signed && a == traits<T>::least && b == T(-1));
  results.put(defined ? T(a / b) : T(0));
  results.put(defined ? T(a % b) : T(0));
}

template <typename T>
FATLINK_TEST_FUNCTION void convert(T a, result_writer& results)
{
  results.put(double(a));
  results.put(double(float(a)));
  results.put(std::uint64_t(std::uint32_t(a)));
  results.put(std::int64_t(std::int16_t(a)));
  results.put(std::uint64_t(std::uint8_t(a)));
  auto const real = double(a / 2);  // half the range, so that it converts back
  results.put(T(real));
  results.put(T(float(real)));
}

/// Overflow wraps: sums and products are those of the unsigned type `U`.
template <typename T, typename U>
FATLINK_TEST_FUNCTION void compute(T a, T b, result_writer results)
{
  auto const shift = unsigned(b) % traits<T>::bits;
  results.put(U(a) + U(b));
  results.put(U(a) - U(b));
  results.put(U(a) * U(b));
  results.put(U(0) - U(a));
  results.put(high_half(a, b));
  divide(a, b, results);
  results.put(U(a) << shift);
  results.put(T(a >> shift));
  results.put(
      std::uint64_t((a < b) | (a <= b) << 1 | (a == b) << 2 | (a > b) << 3 | (a != 0) << 4));
  convert(a, results);
}

}  // namespace arithmetic
