// SPDX-License-Identifier: Apache-2.0
// abs, neg and copysign of f32 and f64: they change only the sign. Source: PTX ISA 9.0,
// "Floating-Point Instructions".
#include "interpreter/instructions/floats/float_signs.hpp"

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/floats/float_ops.hpp"

namespace fatlink::interpreter {
namespace {

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
  if (type != type::f32 && type != type::f64) d.refuse();
  d.emit(type == type::f64 ? for_host<&copy_sign<double>>() : for_host<&copy_sign<float>>(), type,
         {type, type});
}

}  // namespace

void decode_float_sign(decoding& d, bool negate, type type)
{
  if (negate) return decode_sign<true>(d, type);
  decode_sign<false>(d, type);
}

void add_float_signs(decode_table& table)
{
  table["copysign"] = &decode_copysign;
}

}  // namespace fatlink::interpreter
