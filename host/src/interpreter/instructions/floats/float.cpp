// SPDX-License-Identifier: Apache-2.0
// Exact floating-point arithmetic on f32 and f64: every result is the correctly rounded one.
// Source: PTX ISA 9.0, "Floating-Point Instructions".
#include <limits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/approximate.hpp"
#include "interpreter/instructions/floats/float_modifiers.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"
#include "interpreter/instructions/floats/float_signs.hpp"
#include "interpreter/instructions/floats/mixed_arithmetic.hpp"

namespace fatlink::interpreter {
namespace {

/// Of two NaN operands, the second one, as on an H100. A host's compiler may exchange the operands
/// of a sum or product.
inline double chosen_nan(double a, double b, double result) noexcept
{
  auto const first = std::isnan(a) ? quiet(a) : result;
  return std::isnan(b) ? quiet(b) : first;
}

struct op_add {
  float operator()(float a, float b) const { return a + b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, a + b); }
};
struct op_subtract {
  float operator()(float a, float b) const { return a - b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, a - b); }
};
struct op_multiply {
  float operator()(float a, float b) const { return a * b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, a * b); }
};
struct op_divide {
  template <typename F>
  F operator()(F a, F b) const
  {
    return a / b;
  }
};

struct op_fma {
  float operator()(float a, float b, float c) const { return std::fma(a, b, c); }
  /// Of several NaN operands, b before c before a: processors choose by the order of the registers.
  double operator()(double a, double b, double c) const
  {
    auto const result = std::fma(a, b, c);
    auto const of_a = std::isnan(a) ? quiet(a) : result;
    return chosen_nan(c, b, of_a);
  }
};
struct op_sqrt {
  template <typename F>
  F operator()(F a) const
  {
    return std::sqrt(a);
  }
};
struct op_reciprocal {
  template <typename F>
  F operator()(F a) const
  {
    return F{1} / a;
  }
};

/// −0 is less than +0. If one operand is NaN, the result is the other one, or NaN with `.NaN`.
template <bool Max, bool Nan>
struct op_extreme {
  template <typename F>
  F operator()(F a, F b) const
  {
    if (Nan && (std::isnan(a) || std::isnan(b))) return static_cast<F>(std::bit_cast<float>(k_nan));
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == Max ? b : a;
    return (a < b) == Max ? b : a;
  }
};

template <typename F>
void saturate(std::byte* d, lane_mask mask)
{
  each_lane(mask, [=](unsigned i) { store(d, i, saturated(load<F>(d, i))); });
}

/// Flushes a denormal result. A product that was rounded up to the smallest normal number is
/// flushed too if it is below that number when rounded with unlimited exponent range, as hardware
/// does.
template <typename Op, typename... Floats>
float flushed_result(float result, Floats... operands) noexcept
{
  constexpr auto k_min_normal = std::numeric_limits<float>::min();
  if (std::abs(result) != k_min_normal) return flushed(result);
  auto const exact = std::abs(Op{}(static_cast<double>(operands)...));
  return exact < 0x1p-126 - 0x1p-151 ? std::copysign(0.0F, result) : result;
}

template <typename Op, bool Ftz, typename F, typename... Floats>
F finished(F result, Floats... operands) noexcept
{
  if constexpr (Ftz && sizeof(F) == 4) return flushed_result<Op>(canonical(result), operands...);
  return canonical(result);
}

template <typename F, typename Op, unsigned Count, bool Ftz>
void arithmetic(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = Count > 1 ? w.at(o.b) : nullptr;
  auto const* const c = Count > 2 ? w.at(o.c) : nullptr;
  {
    rounding_scope const scope(static_cast<int>(o.flags & k_rounding));
    each_lane(mask, [=](unsigned i) {
      auto const x = flushed_if<Ftz>(load<F>(a, i));
      if constexpr (Count == 1) return store(d, i, finished<Op, Ftz>(Op{}(x), x));
      auto const y = Count > 1 ? flushed_if<Ftz>(load<F>(b, i)) : F{};
      if constexpr (Count == 2) return store(d, i, finished<Op, Ftz>(Op{}(x, y), x, y));
      if constexpr (Count == 3) {
        auto const z = flushed_if<Ftz>(load<F>(c, i));
        store(d, i, finished<Op, Ftz>(Op{}(x, y, z), x, y, z));
      }
    });
  }
  if ((o.flags & k_saturate) != 0) saturate<F>(d, mask);
}

/// Quotients and roots are not saturated.
template <typename Op>
constexpr bool k_saturates = !std::is_same_v<Op, op_divide> && !std::is_same_v<Op, op_sqrt> &&
                             !std::is_same_v<Op, op_reciprocal>;

/// Emits an operation with `Count` sources of one type.
template <unsigned Count>
operation& emit_same(decoding& d, handler run, type type)
{
  if constexpr (Count == 1) return d.emit(run, type, {type});
  if constexpr (Count == 2) return d.emit(run, type, {type, type});
  return d.emit(run, type, {type, type, type});
}

lane_mask doubled(lane_mask lanes) noexcept
{
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes / 2; ++i)
    if ((lanes >> i & 1) != 0) bits |= 3U << (2 * i);
  return bits;
}

/// Executes the handler of f32 in `immediate` on f32x2: its registers are those of 16 lanes, then
/// of 16 more.
void in_pairs(warp& w, operation const& o, lane_mask mask)
{
  auto const run = std::bit_cast<handler>(static_cast<std::uintptr_t>(o.immediate));
  auto part = o;
  if (auto const lower = doubled(mask & 0xFFFFU); lower != 0) run(w, part, lower);
  for (auto* const operand : {&part.d, &part.a, &part.b, &part.c})
    if (*operand != k_no_operand) *operand += k_lanes * sizeof(float);
  if (auto const upper = doubled(mask >> 16); upper != 0) run(w, part, upper);
}

template <typename Op, unsigned Count>
void decode_pair(decoding& d)
{
  auto const rounding = take_rounding(d);
  if (d.take("sat")) d.refuse("it has no .sat");
  auto const run = d.take("ftz") ? for_host<&arithmetic<float, Op, Count, true>>()
                                 : for_host<&arithmetic<float, Op, Count, false>>();
  auto& o = emit_same<Count>(d, &in_pairs, type::f32x2);
  o.flags = static_cast<std::uint32_t>(rounding);
  o.immediate = reinterpret_cast<std::uintptr_t>(run);
}

template <typename Op, unsigned Count>
void decode_exact(decoding& d, type type)
{
  if constexpr (Count > 1)
    if (type == type::f32x2) return decode_pair<Op, Count>(d);
  auto const rounding = take_rounding(d);
  auto const ftz = type == type::f32 && d.take("ftz");
  auto const saturates = k_saturates<Op> && type == type::f32 && d.take("sat");
  auto const run = type == type::f64 ? for_host<&arithmetic<double, Op, Count, false>>()
                   : ftz             ? for_host<&arithmetic<float, Op, Count, true>>()
                                     : for_host<&arithmetic<float, Op, Count, false>>();
  emit_same<Count>(d, run, type).flags =
      static_cast<std::uint32_t>(rounding) | (saturates ? k_saturate : 0U);
}

template <bool Max>
void decode_extreme(decoding& d, type type)
{
  auto const ftz = type == type::f32 && d.take("ftz");
  auto const nan = type == type::f32 && d.take("NaN");
  handler run = nullptr;
  if (type == type::f64)
    run = for_host<&arithmetic<double, op_extreme<Max, false>, 2, false>>();
  else if (nan)
    run = ftz ? for_host<&arithmetic<float, op_extreme<Max, true>, 2, true>>()
              : for_host<&arithmetic<float, op_extreme<Max, true>, 2, false>>();
  else
    run = ftz ? for_host<&arithmetic<float, op_extreme<Max, false>, 2, true>>()
              : for_host<&arithmetic<float, op_extreme<Max, false>, 2, false>>();
  d.emit(run, type, {type, type}).flags = FE_TONEAREST;
}

/// sqrt and rcp; `.approx` is decoded elsewhere.
template <typename Op>
void decode_root(decoding& d, std::string_view name)
{
  auto const type = d.take_type();
  if (type != type::f32 && type != type::f64) d.refuse();
  if (d.take("approx")) return decode_approximation(d, name, type);
  decode_exact<Op, 1>(d, type);
}

}  // namespace

void decode_float_arithmetic(decoding& d, std::string_view name, type type)
{
  auto const has_pairs = name == "add" || name == "sub" || name == "mul" || name == "fma";
  if (type != type::f32 && type != type::f64 && !(type == type::f32x2 && has_pairs)) d.refuse();
  if (name == "add") return decode_exact<op_add, 2>(d, type);
  if (name == "sub") return decode_exact<op_subtract, 2>(d, type);
  if (name == "mul") return decode_exact<op_multiply, 2>(d, type);
  if (name == "fma") return decode_exact<op_fma, 3>(d, type);
  if (name == "min") return decode_extreme<false>(d, type);
  if (name == "max") return decode_extreme<true>(d, type);
  if (name == "abs") return decode_float_sign(d, false, type);
  if (name == "neg") return decode_float_sign(d, true, type);
  if (name != "div") d.refuse();
  if (d.take("approx")) return decode_approximate_division(d, type);
  if (d.take("full")) return decode_full_division(d, type);
  decode_exact<op_divide, 2>(d, type);
}

void add_float(decode_table& table)
{
  table["fma"] = [](decoding& d) {
    auto const type = d.take_type();
    if (type == type::f32 || type == type::f64 || type == type::f32x2)
      decode_float_arithmetic(d, "fma", type);
    else if (d.take("oob"))
      d.refuse("the PTX ISA does not state which NaN marks an element out of bounds");
    else if ((type == type::f16 || type == type::bf16) && d.take("f32"))
      decode_mixed_arithmetic(d, "fma", type);
    else
      decode_half_arithmetic(d, "fma", type);
  };
  table["sqrt"] = [](decoding& d) { decode_root<op_sqrt>(d, "sqrt"); };
  table["rcp"] = [](decoding& d) { decode_root<op_reciprocal>(d, "rcp"); };
}

}  // namespace fatlink::interpreter
