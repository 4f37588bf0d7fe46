// SPDX-License-Identifier: Apache-2.0
// Operands and results of the kernels in half_arithmetic.cu, for device and host.
#pragma once

#include <cstdint>

namespace halves {

struct operands {
  std::uint16_t a, b, c;  ///< half numbers, as bits
  float single;           ///< converted to a half number, as are the next two
  double real;
  std::int64_t whole;
};

/// The words of one element's results. Half numbers are stored as bits.
enum word : unsigned {
  sum,
  difference,
  product,
  fused,
  quotient,
  root,
  negative,
  magnitude,
  least,
  most,
  comparisons,  ///< bits 0 to 5: <, <=, >, >=, ==, != (true for NaN)
  as_float,
  to_int16,
  to_uint16,
  to_int32,
  to_uint32,
  to_int64,
  to_uint64,
  to_int32_nearest,
  to_int32_down,
  to_int32_up,
  from_float,
  from_float_zero,
  from_float_down,
  from_float_up,
  from_double,
  from_int16,
  from_uint32,
  from_int64,
  from_uint64,
  from_int64_zero,
  pair_sum,  ///< of (a, b) and (b, c): lower and upper half
  pair_product,
  pair_fused,  ///< (a, b) * (b, c) + (c, a)
  k_words
};

}  // namespace halves
