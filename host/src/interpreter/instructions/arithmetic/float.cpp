// SPDX-License-Identifier: Apache-2.0
// Exact floating-point arithmetic on f32 and f64: every result is the correctly rounded one. Also
// f32 with operands of 16 bits, and the forms of min and max that all formats have.
// Source: PTX ISA 9.0, "Floating-Point Instructions", "Half Precision Floating-Point Instructions",
// "Mixed Precision Floating-Point Instructions".
#include <limits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// abs, neg and copysign: they change only the sign.

/// abs and neg of a NaN: f32 gives the canonical NaN, f64 keeps the sign.
template <typename F>
F changed_nan(F value) noexcept
{
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<float>(k_nan);
  else
    return quiet(value);
}

template <typename F, bool Negate, bool Ftz>
void change_sign(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  constexpr auto k_sign = bits_for<F>{1} << (8 * sizeof(F) - 1);
  each_lane(mask, [=](unsigned i) {
    auto const value = flushed_if<Ftz>(load<F>(a, i));
    auto const bits = std::bit_cast<bits_for<F>>(value);
    auto const changed = std::bit_cast<F>(Negate ? bits ^ k_sign : bits & ~k_sign);
    store(d, i, std::isnan(value) ? changed_nan(value) : changed);
  });
}

template <typename F>
void copy_sign(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  constexpr auto k_sign = bits_for<F>{1} << (8 * sizeof(F) - 1);
  each_lane(mask, [=](unsigned i) {
    store(d, i, (load<bits_for<F>>(a, i) & k_sign) | (load<bits_for<F>>(b, i) & ~k_sign));
  });
}

template <bool Negate>
void decode_sign(decoding& d, type type)
{
  auto const ftz = type == type::f32 && d.take("ftz");
  auto const run = type == type::f64 ? for_host<&change_sign<double, Negate, false>>()
                   : ftz             ? for_host<&change_sign<float, Negate, true>>()
                                     : for_host<&change_sign<float, Negate, false>>();
  d.emit(run, type, {type});
}

void decode_copysign(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::f32 && type != type::f64) d.fail_unsupported();
  d.emit(type == type::f64 ? for_host<&copy_sign<double>>() : for_host<&copy_sign<float>>(), type,
         {type, type});
}

/// Decodes an abs, or a neg if `negate`, whose type is taken already.
void decode_float_sign(decoding& d, bool negate, type type)
{
  if (negate) return decode_sign<true>(d, type);
  decode_sign<false>(d, type);
}

// add, sub, mul, div, fma, min, max, sqrt, rcp.

struct op_add {
  float operator()(float a, float b) const { return a + b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, created(a + b)); }
};
struct op_subtract {
  float operator()(float a, float b) const { return a - b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, created(a - b)); }
};
struct op_multiply {
  float operator()(float a, float b) const { return a * b; }
  double operator()(double a, double b) const { return chosen_nan(a, b, created(a * b)); }
};
struct op_divide {
  float operator()(float a, float b) const { return a / b; }
  double operator()(double a, double b) const { return first_nan(a, b, a / b); }
};

struct op_fma {
  float operator()(float a, float b, float c) const { return std::fma(a, b, c); }
  double operator()(double a, double b, double c) const { return fused(a, b, c); }
};
struct op_sqrt {
  float operator()(float a) const { return std::sqrt(a); }
  double operator()(double a) const { return first_nan(a, a, std::sqrt(a)); }
};
struct op_reciprocal {
  float operator()(float a) const { return 1 / a; }
  double operator()(double a) const { return first_nan(a, a, 1 / a); }
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
    rounding_scope const scope(rounding_of(o.flags));
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
  auto const mode = static_cast<std::uint32_t>(take_rounding(d));
  if (d.take("sat")) d.fail_unsupported("it has no .sat");
  auto const run = d.take("ftz") ? for_host<&arithmetic<float, Op, Count, true>>()
                                 : for_host<&arithmetic<float, Op, Count, false>>();
  auto& o = emit_same<Count>(d, &in_pairs, type::f32x2);
  o.flags = mode;
  o.immediate = reinterpret_cast<std::uintptr_t>(run);
}

template <typename Op, unsigned Count>
void decode_exact(decoding& d, type type)
{
  if constexpr (Count > 1)
    if (type == type::f32x2) return decode_pair<Op, Count>(d);
  auto const mode = static_cast<std::uint32_t>(take_rounding(d));
  auto const ftz = type == type::f32 && d.take("ftz");
  auto const saturates = k_saturates<Op> && type == type::f32 && d.take("sat");
  auto const run = type == type::f64 ? for_host<&arithmetic<double, Op, Count, false>>()
                   : ftz             ? for_host<&arithmetic<float, Op, Count, true>>()
                                     : for_host<&arithmetic<float, Op, Count, false>>();
  emit_same<Count>(d, run, type).flags = mode | (saturates ? k_saturate : 0U);
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
  d.emit(run, type, {type, type}).flags = 0;
}

/// sqrt and rcp; `.approx` is decoded elsewhere.
template <typename Op>
void decode_root(decoding& d, std::string_view name)
{
  auto const type = d.take_type();
  if (type != type::f32 && type != type::f64) d.fail_unsupported();
  if (d.take("approx")) return decode_approximation(d, name, type);
  decode_exact<Op, 1>(d, type);
}

}  // namespace

void decode_float_arithmetic(decoding& d, std::string_view name, type type)
{
  auto const has_pairs = name == "add" || name == "sub" || name == "mul" || name == "fma";
  if (type != type::f32 && type != type::f64 && !(type == type::f32x2 && has_pairs))
    d.fail_unsupported();
  if (name == "add") return decode_exact<op_add, 2>(d, type);
  if (name == "sub") return decode_exact<op_subtract, 2>(d, type);
  if (name == "mul") return decode_exact<op_multiply, 2>(d, type);
  if (name == "fma") return decode_exact<op_fma, 3>(d, type);
  if (name == "min") return decode_extreme<false>(d, type);
  if (name == "max") return decode_extreme<true>(d, type);
  if (name == "abs") return decode_float_sign(d, false, type);
  if (name == "neg") return decode_float_sign(d, true, type);
  if (name != "div") d.fail_unsupported();
  if (d.take("approx")) return decode_approximate_division(d, type);
  if (d.take("full")) return decode_full_division(d, type);
  decode_exact<op_divide, 2>(d, type);
}

namespace {

// min and max with .xorsign.abs or of three inputs.

enum extreme_flags : std::uint32_t {
  k_flush = 1,
  k_prefer_nan = 2,
  k_absolute = 4,
  k_xor_signs = 8
};

/// A format by its bits: f32, or a half.
template <typename T, T Exponent, T Nan>
struct ordered_bits {
  using bits = T;
  static constexpr T k_sign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  static constexpr T k_exponent = Exponent;
  static constexpr T k_nan_bits = Nan;

  static bool is_nan(T value) noexcept { return (value & ~k_sign) > k_exponent; }
  static T flushed(T value) noexcept
  {
    return static_cast<T>((value & k_exponent) == 0 ? value & k_sign : value);
  }
  /// −0 is less than +0.
  static bool less(T a, T b) noexcept { return key(a) < key(b); }

 private:
  static T key(T value) noexcept
  {
    return static_cast<T>((value & k_sign) != 0 ? ~value : value | k_sign);
  }
};
using single_bits = ordered_bits<std::uint32_t, 0x7F800000, k_nan>;
using half_bits = ordered_bits<std::uint16_t, 0x7C00, 0x7FFF>;
using bfloat_bits = ordered_bits<std::uint16_t, 0x7F80, 0x7FFF>;

template <typename Format, bool Max>
typename Format::bits extreme(typename Format::bits a, typename Format::bits b,
                              std::uint32_t flags) noexcept
{
  auto const nan_a = Format::is_nan(a);
  auto const nan_b = Format::is_nan(b);
  if ((nan_a && nan_b) || ((flags & k_prefer_nan) != 0 && (nan_a || nan_b)))
    return Format::k_nan_bits;
  if (nan_a) return b;
  if (nan_b) return a;
  return Format::less(a, b) == Max ? b : a;
}

template <typename Format>
typename Format::bits prepared(typename Format::bits value, std::uint32_t flags) noexcept
{
  using bits = typename Format::bits;
  if ((flags & k_flush) != 0) value = Format::flushed(value);
  return (flags & k_absolute) != 0 ? static_cast<bits>(value & ~Format::k_sign) : value;
}

/// `Count` numbers of each lane, of `Sources` operands.
template <typename Format, bool Max, unsigned Count, unsigned Sources>
void extremes(warp& w, operation const& o, lane_mask mask)
{
  using bits = typename Format::bits;
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = Sources > 2 ? w.at(o.c) : nullptr;
  auto const flags = o.flags;
  each_lane(mask, [=](unsigned lane) {
    for (unsigned i = lane * Count; i < (lane + 1) * Count; ++i) {
      auto const x = load<bits>(a, i);
      auto const y = load<bits>(b, i);
      auto result =
          extreme<Format, Max>(prepared<Format>(x, flags), prepared<Format>(y, flags), flags);
      if constexpr (Sources > 2)
        result = extreme<Format, Max>(result, prepared<Format>(load<bits>(c, i), flags), flags);
      if ((flags & k_xor_signs) != 0 && !Format::is_nan(result))
        result = static_cast<bits>((result & ~Format::k_sign) | ((x ^ y) & Format::k_sign));
      store(d, i, result);
    }
  });
}

template <bool Max>
handler pick_extremes(decoding const& d, type type)
{
  switch (type) {
    case type::f16:
      return &extremes<half_bits, Max, 1, 2>;
    case type::f16x2:
      return &extremes<half_bits, Max, 2, 2>;
    case type::bf16:
      return &extremes<bfloat_bits, Max, 1, 2>;
    case type::bf16x2:
      return &extremes<bfloat_bits, Max, 2, 2>;
    case type::f32:
      return &extremes<single_bits, Max, 1, 2>;
    default:
      d.fail_unsupported();
  }
}

std::uint32_t take_extreme_flags(decoding& d, type type)
{
  auto const may_flush = type == type::f32 || is_binary16(type);
  auto const ftz = may_flush && d.take("ftz") ? k_flush : 0U;
  auto const nan = d.take("NaN") ? k_prefer_nan : 0U;
  auto const absolute = d.take("abs") ? k_absolute : 0U;
  return ftz | nan | absolute;
}

}  // namespace

bool decode_special_extreme(decoding& d, bool max, type type)
{
  if (d.take("xorsign")) {
    auto const flags = take_extreme_flags(d, type) | k_xor_signs;
    if ((flags & k_absolute) == 0) d.fail_unsupported(".xorsign needs .abs");
    d.emit(max ? pick_extremes<true>(d, type) : pick_extremes<false>(d, type), type, {type, type})
        .flags = flags;
    return true;
  }
  if (d.count() != 4) return false;
  if (type != type::f32) d.fail_unsupported("too many operands");
  auto const flags = take_extreme_flags(d, type);
  auto const run = max ? &extremes<single_bits, true, 1, 3> : &extremes<single_bits, false, 1, 3>;
  d.emit(run, type, {type, type, type}).flags = flags;
  return true;
}

namespace {

// add, sub and fma of f32 with an operand of 16 bits, which becomes f32: that is exact.

using half_float::bfloat16;
using half_float::binary16;

struct op_mixed_add {
  float operator()(float a, float, float c) const { return a + c; }
};
struct op_mixed_subtract {
  float operator()(float a, float, float c) const { return a - c; }
};
struct op_mixed_fma {
  float operator()(float a, float b, float c) const { return std::fma(a, b, c); }
};

template <typename Half, typename Op>
void mixed(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const saturates = (o.flags & k_saturate) != 0;
  rounding_scope const scope(rounding_of(o.flags));
  each_lane(mask, [=](unsigned i) {
    auto const half = [=](std::byte const* lanes) {
      return static_cast<float>(to_double(Half{load<std::uint16_t>(lanes, i)}));
    };
    auto const result = canonical(Op{}(half(a), half(b), load<float>(c, i)));
    store(d, i, saturates ? saturated(result) : result);
  });
}

template <typename Half>
handler pick_mixed(decoding const& d, std::string_view name)
{
  if (name == "add") return &mixed<Half, op_mixed_add>;
  if (name == "sub") return &mixed<Half, op_mixed_subtract>;
  if (name == "fma") return &mixed<Half, op_mixed_fma>;
  d.fail_unsupported();
}

std::uint32_t take_mixed_flags(decoding& d)
{
  return static_cast<std::uint32_t>(take_rounding(d)) | (d.take("sat") ? k_saturate : 0U);
}

}  // namespace

void decode_mixed_arithmetic(decoding& d, std::string_view name, type type)
{
  auto const flags = take_mixed_flags(d);
  auto const is_fma = name == "fma";
  auto const run =
      type == type::f16 ? pick_mixed<binary16>(d, name) : pick_mixed<bfloat16>(d, name);
  auto& o = is_fma ? d.emit(run, type::f32, {type, type, type::f32})
                   : d.emit(run, type::f32, {type, type::f32});
  if (!is_fma) {  // the sum's operands are a and c
    o.c = o.b;
    o.b = o.a;
  }
  o.flags = flags;
}

void add_float(decode_table& table)
{
  table["copysign"] = &decode_copysign;
  table["fma"] = [](decoding& d) {
    auto const type = d.take_type();
    if (type == type::f32 || type == type::f64 || type == type::f32x2)
      decode_float_arithmetic(d, "fma", type);
    else if (d.take("oob"))
      d.fail_unsupported("the PTX ISA does not state which NaN marks an element out of bounds");
    else if ((type == type::f16 || type == type::bf16) && d.take("f32"))
      decode_mixed_arithmetic(d, "fma", type);
    else
      decode_half_arithmetic(d, "fma", type);
  };
  table["sqrt"] = [](decoding& d) { decode_root<op_sqrt>(d, "sqrt"); };
  table["rcp"] = [](decoding& d) { decode_root<op_reciprocal>(d, "rcp"); };
}

}  // namespace fatlink::interpreter
