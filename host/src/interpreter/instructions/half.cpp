// SPDX-License-Identifier: Apache-2.0
// Arithmetic on f16, bf16 and pairs of them. Source: PTX ISA 9.0, "Half Precision
// Floating-Point Instructions".
#include "util/bytes/half_float.hpp"

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::add_rounding_to_odd;
using half_float::bfloat16;
using half_float::binary16;
using half_float::round_to;

enum half_flags : std::uint32_t { k_ftz = 1, k_saturate = 2, k_relu = 4, k_nan_wins = 8 };

template <typename Half>
double flushed(Half value, std::uint32_t flags) noexcept
{
  constexpr auto k_exponent = 0x7FFF >> Half::k_fraction << Half::k_fraction;
  auto const is_denormal = (value.bits & k_exponent) == 0;
  if ((flags & k_ftz) != 0 && is_denormal) value.bits &= 0x8000;
  return to_double(value);
}

/// Rounds `exact`, which is exact or rounded to odd: the only rounding to nearest.
template <typename Half>
Half finished(double exact, std::uint32_t flags) noexcept
{
  auto result = round_to<Half>(exact);
  auto const value = to_double(result);
  if ((flags & k_saturate) != 0) return round_to<Half>(value > 0 ? std::min(value, 1.0) : 0.0);
  if ((flags & k_relu) != 0 && !(value > 0) && !std::isnan(value)) return Half{0};
  constexpr auto k_exponent = 0x7FFF >> Half::k_fraction << Half::k_fraction;
  if ((flags & k_ftz) != 0 && (result.bits & k_exponent) == 0) result.bits &= 0x8000;
  return result;
}

struct op_add {
  double operator()(double a, double b, double) const { return add_rounding_to_odd(a, b); }
};
struct op_subtract {
  double operator()(double a, double b, double) const { return add_rounding_to_odd(a, -b); }
};
struct op_multiply {
  double operator()(double a, double b, double) const { return a * b; }
};
struct op_fma {
  double operator()(double a, double b, double c) const { return add_rounding_to_odd(a * b, c); }
};

template <typename Half, typename Op, unsigned Count, unsigned Sources>
void half_arithmetic(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = Sources > 2 ? w.at(o.c) : nullptr;
  auto const flags = o.flags;
  each_lane(mask, [=](unsigned lane) {
    for (unsigned k = 0; k < Count; ++k) {
      auto const i = lane * Count + k;
      auto const read = [=](std::byte const* source) {
        return flushed(Half{load<std::uint16_t>(source, i)}, flags);
      };
      auto const third = Sources > 2 ? read(c) : 0.0;
      store(d, i, finished<Half>(Op{}(read(a), read(b), third), flags).bits);
    }
  });
}

/// −0 is less than +0. If one operand is NaN, the result is the other one, or NaN with `.NaN`.
template <typename Half, bool Max>
Half extreme(Half a, Half b, std::uint32_t flags) noexcept
{
  auto const x = flushed(a, flags);
  auto const y = flushed(b, flags);
  if (std::isnan(x) || std::isnan(y)) {
    if ((flags & k_nan_wins) != 0 || (std::isnan(x) && std::isnan(y))) return {Half::k_nan};
    return round_to<Half>(std::isnan(x) ? y : x);
  }
  if (x == y) return std::signbit(x) == Max ? round_to<Half>(y) : round_to<Half>(x);
  return round_to<Half>((x < y) == Max ? y : x);
}

template <typename Half, bool Max, unsigned Count>
void half_extreme(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const flags = o.flags;
  each_lane(mask, [=](unsigned lane) {
    for (unsigned i = lane * Count; i < (lane + 1) * Count; ++i)
      store(d, i,
            extreme<Half, Max>(Half{load<std::uint16_t>(a, i)}, Half{load<std::uint16_t>(b, i)},
                               flags)
                .bits);
  });
}

/// abs and neg of `Count` numbers: they change only the sign bits.
template <typename Half, bool Negate, unsigned Count>
void half_sign(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const ftz = (o.flags & k_ftz) != 0;
  constexpr auto k_exponent = 0x7FFF >> Half::k_fraction << Half::k_fraction;
  each_lane(mask, [=](unsigned lane) {
    for (unsigned i = lane * Count; i < (lane + 1) * Count; ++i) {
      auto bits = load<std::uint16_t>(a, i);
      if (ftz && (bits & k_exponent) == 0) bits &= 0x8000;
      store(d, i, static_cast<std::uint16_t>(Negate ? bits ^ 0x8000 : bits & 0x7FFF));
    }
  });
}

template <typename Half, unsigned Count>
handler pick(decoding const& d, std::string_view name)
{
  if (name == "add") return for_host<&half_arithmetic<Half, op_add, Count, 2>>();
  if (name == "sub") return for_host<&half_arithmetic<Half, op_subtract, Count, 2>>();
  if (name == "mul") return for_host<&half_arithmetic<Half, op_multiply, Count, 2>>();
  if (name == "fma") return for_host<&half_arithmetic<Half, op_fma, Count, 3>>();
  if (name == "min") return for_host<&half_extreme<Half, false, Count>>();
  if (name == "max") return for_host<&half_extreme<Half, true, Count>>();
  if (name == "abs") return for_host<&half_sign<Half, false, Count>>();
  if (name == "neg") return for_host<&half_sign<Half, true, Count>>();
  d.refuse();
}

unsigned source_count(std::string_view name) noexcept
{
  if (name == "abs" || name == "neg") return 1;
  return name == "fma" ? 3 : 2;
}

handler pick(decoding const& d, std::string_view name, type type)
{
  switch (type) {
    case type::f16:
      return pick<binary16, 1>(d, name);
    case type::f16x2:
      return pick<binary16, 2>(d, name);
    case type::bf16:
      return pick<bfloat16, 1>(d, name);
    case type::bf16x2:
      return pick<bfloat16, 2>(d, name);
    default:
      d.refuse();
  }
}

}  // namespace

void decode_half_arithmetic(decoding& d, std::string_view name, type type)
{
  (void)d.take("rn");
  std::uint32_t flags = 0;
  if (d.take("ftz")) flags |= k_ftz;
  if (d.take("sat")) flags |= k_saturate;
  if (d.take("relu")) flags |= k_relu;
  if (d.take("NaN")) flags |= k_nan_wins;
  auto const sources = source_count(name);
  d.expect_count(sources + 1, sources + 1);
  operand_offset operands[3]{k_no_operand, k_no_operand, k_no_operand};
  for (unsigned i = 0; i < sources; ++i) operands[i] = d.source(i + 1, type);
  auto const result = d.destination(0, type);
  auto& o = d.emit(pick(d, name, type));
  o.d = result;
  o.a = operands[0];
  o.b = operands[1];
  o.c = operands[2];
  o.flags = flags;
}

}  // namespace fatlink::interpreter
