// SPDX-License-Identifier: Apache-2.0
// The `.approx` instructions. Hardware computes them by table and interpolation, within error
// bounds that the PTX ISA states. Here they are computed in double and rounded once, so results
// differ from the hardware's by at most its own error. Source: PTX ISA 9.0, which states the error
// bound of each instruction.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// 2^x, sin and cos of f32 numbers, computed in f64 without branches, so that loops over them are
// vectorised. The errors are below 2^-50 of the result: rounded to f32 it is the correctly rounded
// one, except where the exact one is about 2^-27 of a step from the middle of two numbers.

namespace elementary {

/// Added to a number below 2^51, it rounds it to an integer, which is then in the lowest bits.
constexpr double k_rounder = 0x1.8p52;

/// `a` where the mask has all bits, `b` where it has none.
inline double chosen(std::uint64_t mask, double a, double b) noexcept
{
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) & mask) |
                               (std::bit_cast<std::uint64_t>(b) & ~mask));
}

/// Beyond ±200 the result is that of ±200, which f32 cannot express either.
[[gnu::always_inline]] inline double power_of_2(double x) noexcept
{
  x = x < -200 ? -200 : x;
  x = x > 200 ? 200 : x;
  auto const rounded = x + k_rounder;
  auto const fraction = x - (rounded - k_rounder);  // at most 1/2
  constexpr double k_ln2 = 0.693147180559945309417232;
  auto const y = fraction * k_ln2;
  auto sum = 1.0 / 6227020800.0;
  sum = sum * y + 1.0 / 479001600.0;
  sum = sum * y + 1.0 / 39916800.0;
  sum = sum * y + 1.0 / 3628800.0;
  sum = sum * y + 1.0 / 362880.0;
  sum = sum * y + 1.0 / 40320.0;
  sum = sum * y + 1.0 / 5040.0;
  sum = sum * y + 1.0 / 720.0;
  sum = sum * y + 1.0 / 120.0;
  sum = sum * y + 1.0 / 24.0;
  sum = sum * y + 1.0 / 6.0;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  auto const scale = (std::bit_cast<std::uint64_t>(rounded) << 52) + (std::uint64_t{1023} << 52);
  return sum * std::bit_cast<double>(scale);
}

/// Up to this magnitude sin_or_cos() is exact enough.
constexpr float k_greatest_angle = 0x1p17F;

/// Reduces the angle to at most pi/4 by the parts of pi/2 (fdlibm, e_rem_pio2.c): products of the
/// first two with integers below 2^20 are exact.
template <bool Cosine>
[[gnu::always_inline]] inline double sin_or_cos(double x) noexcept
{
  auto const rounded = x * 6.36619772367581382433e-01 + k_rounder;
  auto const quarters = rounded - k_rounder;
  auto const quadrant = std::bit_cast<std::uint64_t>(rounded) + (Cosine ? 1 : 0);
  auto const r = ((x - quarters * 0x1.921fb544p+0) - quarters * 0x1.0b4611a6p-34) -
                 quarters * 0x1.3198a2e037073p-69;
  auto const r2 = r * r;
  auto sine = -1.0 / 1307674368000.0;
  sine = sine * r2 + 1.0 / 6227020800.0;
  sine = sine * r2 - 1.0 / 39916800.0;
  sine = sine * r2 + 1.0 / 362880.0;
  sine = sine * r2 - 1.0 / 5040.0;
  sine = sine * r2 + 1.0 / 120.0;
  sine = sine * r2 - 1.0 / 6.0;
  sine = (sine * r2 + 1.0) * r;  // keeps the sign of zero
  auto cosine = 1.0 / 20922789888000.0;
  cosine = cosine * r2 - 1.0 / 87178291200.0;
  cosine = cosine * r2 + 1.0 / 479001600.0;
  cosine = cosine * r2 - 1.0 / 3628800.0;
  cosine = cosine * r2 + 1.0 / 40320.0;
  cosine = cosine * r2 - 1.0 / 720.0;
  cosine = cosine * r2 + 1.0 / 24.0;
  cosine = cosine * r2 - 0.5;
  cosine = cosine * r2 + 1.0;
  auto const result = chosen(0 - (quadrant & 1), cosine, sine);
  auto const sign = (quadrant & 2) << 62;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) ^ sign);
}

}  // namespace elementary

using half_float::bfloat16;
using half_float::binary16;
using half_float::round_to;

struct f_sin {
  double operator()(double x) const { return std::sin(x); }
};
struct f_cos {
  double operator()(double x) const { return std::cos(x); }
};
struct f_exp2 {
  double operator()(double x) const { return elementary::power_of_2(x); }
};
struct f_log2 {
  double operator()(double x) const { return std::log2(x); }
};
struct f_tanh {
  double operator()(double x) const { return std::tanh(x); }
};
struct f_sqrt {
  double operator()(double x) const { return std::sqrt(x); }
};
struct f_rsqrt {
  double operator()(double x) const { return 1 / std::sqrt(x); }
};
struct f_reciprocal {
  double operator()(double x) const { return 1 / x; }
};

template <typename Function, bool Ftz>
void approximate(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto const x = static_cast<double>(flushed_if<Ftz>(load<float>(a, i)));
    store(d, i, flushed_if<Ftz>(canonical(static_cast<float>(Function{}(x)))));
  });
}

/// sin and cos: without branches if no angle is great.
template <bool Cosine, bool Ftz>
void approximate_angles(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  constexpr auto k_greatest = std::bit_cast<std::uint32_t>(elementary::k_greatest_angle);
  auto const compute = [=](unsigned i) {
    auto const x = static_cast<double>(flushed_if<Ftz>(load<float>(a, i)));
    auto const result = static_cast<float>(elementary::sin_or_cos<Cosine>(x));
    store(d, i, flushed_if<Ftz>(canonical(result)));
  };
  std::uint32_t great = 0;  // the highest bit: of at least one angle
  for (unsigned i = 0; i < k_lanes; ++i)
    great |= k_greatest - (load<std::uint32_t>(a, i) & 0x7FFFFFFFU);
  if (mask == k_all_lanes && great >> 31 == 0) return each_lane(mask, compute);
  each_lane(mask, [=](unsigned i) {
    if ((load<std::uint32_t>(a, i) & 0x7FFFFFFFU) <= k_greatest) return compute(i);
    auto const x = static_cast<double>(load<float>(a, i));
    store(d, i, flushed_if<Ftz>(canonical(static_cast<float>(Cosine ? std::cos(x) : std::sin(x)))));
  });
}

/// div.approx is a · (1/b), and the reciprocal of a number above 2^126 is a denormal, which becomes
/// zero. div.full scales such numbers.
struct f_divide_approx {
  float operator()(float a, float b) const
  {
    return std::fabs(b) > 0x1p126F ? a * std::copysign(0.0F, b) : a / b;
  }
};
struct f_divide_full {
  float operator()(float a, float b) const { return a / b; }
};

template <typename Divide, bool Ftz>
void divide(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const quotient =
        Divide{}(flushed_if<Ftz>(load<float>(a, i)), flushed_if<Ftz>(load<float>(b, i)));
    store(d, i, flushed_if<Ftz>(canonical(quotient)));
  });
}

template <typename Divide>
void decode_quotient(decoding& d, type type)
{
  if (type != type::f32) d.fail_unsupported();
  auto const ftz = d.take("ftz");
  d.emit(ftz ? for_host<&divide<Divide, true>>() : for_host<&divide<Divide, false>>(), type,
         {type, type});
}

/// rcp and rsqrt of f64 with `.ftz`: they read only the upper 32 bits, and the lower 32 bits of the
/// result are 0.
template <typename Function, bool Gross>
void approximate_double(warp& w, operation const& o, lane_mask mask)
{
  constexpr std::uint64_t k_upper = 0xFFFFFFFF00000000;
  constexpr std::uint64_t k_gross_nan = 0x7FFFFFFF00000000;
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  each_lane(mask, [=](unsigned i) {
    auto bits = load<std::uint64_t>(a, i);
    if (Gross) {
      bits &= k_upper;
      if ((bits & 0x7FF0000000000000) == 0) bits &= 0x8000000000000000;
    }
    auto const value = std::bit_cast<double>(bits);
    auto result =
        std::bit_cast<std::uint64_t>(std::isnan(value) ? quiet(value) : created(Function{}(value)));
    if (Gross) {
      if ((result & 0x7FF0000000000000) == 0) result &= 0x8000000000000000;
      result = std::isnan(std::bit_cast<double>(result)) ? k_gross_nan : result & k_upper;
    }
    store(d, i, result);
  });
}

template <typename Function>
handler single(bool ftz)
{
  return ftz ? for_host<&approximate<Function, true>>() : for_host<&approximate<Function, false>>();
}

/// The result for each number of 16 bits; computed at the first use, in some milliseconds.
template <typename Half, typename Function>
std::vector<std::uint16_t> const& results_of_halves()
{
  static auto const results = [] {
    std::vector<std::uint16_t> all(std::size_t{1} << 16);
    for (std::size_t bits = 0; bits < all.size(); ++bits)
      all[bits] =
          round_to<Half>(Function{}(to_double(Half{static_cast<std::uint16_t>(bits)}))).bits;
    return all;
  }();
  return results;
}

template <typename Half, typename Function, unsigned Count>
void approximate_half(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const results = results_of_halves<Half, Function>().data();
  each_lane(mask, [=](unsigned i) {
    for (unsigned k = 0; k < Count; ++k)
      store(d, i * Count + k, results[load<std::uint16_t>(a, i * Count + k)]);
  });
}

template <typename Function>
handler of_halves(decoding const& d, type type)
{
  switch (type) {
    case type::f16:
      return for_host<&approximate_half<binary16, Function, 1>>();
    case type::f16x2:
      return for_host<&approximate_half<binary16, Function, 2>>();
    case type::bf16:
      return for_host<&approximate_half<bfloat16, Function, 1>>();
    case type::bf16x2:
      return for_host<&approximate_half<bfloat16, Function, 2>>();
    default:
      d.fail_unsupported();
  }
}

void decode_double(decoding& d, std::string_view name, bool ftz)
{
  handler run = nullptr;
  if (name == "rcp" && ftz) run = for_host<&approximate_double<f_reciprocal, true>>();
  if (name == "rsqrt")
    run = ftz ? for_host<&approximate_double<f_rsqrt, true>>()
              : for_host<&approximate_double<f_rsqrt, false>>();
  if (run == nullptr) d.fail_unsupported();
  d.emit(run, type::f64, {type::f64});
}

template <typename Function>
void decode_function(decoding& d, std::string_view name)
{
  auto const type = d.take_type();
  if (!d.take("approx")) d.fail_unsupported();
  if (type == type::f32 || type == type::f64) return decode_approximation(d, name, type);
  if (name != "tanh" && name != "ex2") d.fail_unsupported();
  if (name == "ex2" && (type == type::bf16 || type == type::bf16x2))
    (void)d.take("ftz");  // no effect: denormals of bf16 are far below the results
  d.emit(of_halves<Function>(d, type), type, {type});
}

}  // namespace

void decode_approximation(decoding& d, std::string_view name, type type)
{
  auto const ftz = name != "tanh" && d.take("ftz");
  if (type == type::f64) return decode_double(d, name, ftz);
  handler run = nullptr;
  if (name == "sin")
    run = ftz ? for_host<&approximate_angles<false, true>>()
              : for_host<&approximate_angles<false, false>>();
  if (name == "cos")
    run = ftz ? for_host<&approximate_angles<true, true>>()
              : for_host<&approximate_angles<true, false>>();
  if (name == "ex2") run = single<f_exp2>(ftz);
  if (name == "lg2") run = single<f_log2>(ftz);
  if (name == "tanh") run = single<f_tanh>(ftz);
  if (name == "sqrt") run = single<f_sqrt>(ftz);
  if (name == "rsqrt") run = single<f_rsqrt>(ftz);
  if (name == "rcp") run = single<f_reciprocal>(ftz);
  if (run == nullptr || type != type::f32) d.fail_unsupported();
  d.emit(run, type, {type});
}

void decode_approximate_division(decoding& d, type type)
{
  decode_quotient<f_divide_approx>(d, type);
}

void decode_full_division(decoding& d, type type)
{
  decode_quotient<f_divide_full>(d, type);
}

void add_approximate(decode_table& table)
{
  table["sin"] = [](decoding& d) { decode_function<f_sin>(d, "sin"); };
  table["cos"] = [](decoding& d) { decode_function<f_cos>(d, "cos"); };
  table["ex2"] = [](decoding& d) { decode_function<f_exp2>(d, "ex2"); };
  table["lg2"] = [](decoding& d) { decode_function<f_log2>(d, "lg2"); };
  table["tanh"] = [](decoding& d) { decode_function<f_tanh>(d, "tanh"); };
  table["rsqrt"] = [](decoding& d) { decode_function<f_rsqrt>(d, "rsqrt"); };
}

}  // namespace fatlink::interpreter
