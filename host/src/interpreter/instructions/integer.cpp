// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Overflow wraps, as in hardware: signed types compute as unsigned ones.
// Source: PTX ISA 9.0, "Integer Arithmetic Instructions", "Extended-Precision Integer …".
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

enum carry_flags : std::uint32_t { k_carry_in = 1, k_carry_out = 2 };

/// add and sub with the condition code's carry. As in hardware, a subtraction adds the complement
/// of b and 1: its carry is 1 where nothing was borrowed, and subc borrows where the carry is 0.
/// So that add.cc, sub.cc, addc, subc and madc may follow one another, which compilers rely on.
/// The PTX ISA speaks of a borrow; ptxas folds `sub.cc 5,7; addc 0,0` to 0.
template <typename T, bool Subtract>
void with_carry(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto* const d = w.at(o.d);
  auto const has_carry_in = (o.flags & k_carry_in) != 0;
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(left));
    auto const carry_in = has_carry_in ? w.carry >> i & 1U : (Subtract ? 1U : 0U);
    auto const x = load<T>(a, i);
    auto const y = Subtract ? static_cast<T>(~load<T>(b, i)) : load<T>(b, i);
    auto const sum = static_cast<T>(x + y + carry_in);
    store<T>(d, i, sum);
    auto const carry_out = sum < x || (carry_in != 0 && sum == x);
    if ((o.flags & k_carry_out) != 0) w.carry = (w.carry & ~(1U << i)) | (carry_out ? 1U << i : 0U);
  }
}

template <typename T, bool High>
void multiply_with_carry(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto* const d = w.at(o.d);
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(left));
    auto const in = (o.flags & k_carry_in) != 0 ? w.carry >> i & 1U : 0U;
    auto const x = High ? high(load<T>(a, i), load<T>(b, i)) : low(load<T>(a, i), load<T>(b, i));
    auto const y = load<T>(c, i);
    auto const sum = static_cast<T>(bits_of(x) + bits_of(y) + in);
    store<T>(d, i, sum);
    auto const out = bits_of(sum) < bits_of(x) || (in != 0 && sum == x);
    if ((o.flags & k_carry_out) != 0) w.carry = (w.carry & ~(1U << i)) | (out ? 1U << i : 0U);
  }
}

template <typename Op>
handler binary_of(decoding const& d, type as)
{
  return for_integer(d, as, []<typename T>() -> handler { return &binary<T, T, Op>; });
}

template <typename Op>
handler ternary_of(decoding const& d, type as)
{
  return for_integer(d, as, []<typename T>() -> handler { return &ternary<T, T, Op>; });
}

template <bool Subtract>
void decode_carry(decoding& d, type as, bool in, bool out)
{
  auto const run = for_integer(d, as, []<typename T>() -> handler {
    return &with_carry<std::make_unsigned_t<T>, Subtract>;
  });
  d.emit(run, as, {as, as}).flags = (in ? k_carry_in : 0U) | (out ? k_carry_out : 0U);
}

template <typename Op, typename Saturated, bool Subtract>
void decode_sum(decoding& d, std::string_view name)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, name, as);
  if (is_float(as)) return decode_float_arithmetic(d, name, as);
  if (d.take("cc")) return decode_carry<Subtract>(d, as, false, true);
  if (d.take("sat")) {
    if (as != type::s32) d.refuse();
    d.emit(&binary<std::int32_t, std::int32_t, Saturated>, as, {as, as});
    return;
  }
  d.emit(binary_of<Op>(d, as), as, {as, as});
}

template <bool Subtract>
void decode_sum_with_carry(decoding& d)
{
  auto const as = d.take_type();
  decode_carry<Subtract>(d, as, true, d.take("cc"));
}

type twice_as_wide(decoding const& d, type as)
{
  switch (as) {
    case type::u16:
      return type::u32;
    case type::s16:
      return type::s32;
    case type::u32:
      return type::u64;
    case type::s32:
      return type::s64;
    default:
      d.refuse();
  }
}

template <bool Add>
void decode_wide(decoding& d, type as)
{
  auto const pick = [&]<typename T, typename R>() -> handler {
    if constexpr (Add)
      return &ternary<R, T, op_wide<R>>;
    else
      return &binary<R, T, op_wide<R>>;
  };
  auto const result = twice_as_wide(d, as);
  handler run = nullptr;
  if (as == type::u16) run = pick.template operator()<std::uint16_t, std::uint32_t>();
  if (as == type::s16) run = pick.template operator()<std::int16_t, std::int32_t>();
  if (as == type::u32) run = pick.template operator()<std::uint32_t, std::uint64_t>();
  if (as == type::s32) run = pick.template operator()<std::int32_t, std::int64_t>();
  if constexpr (Add)
    d.emit(run, result, {as, as, result});
  else
    d.emit(run, result, {as, as});
}

void decode_mul(decoding& d)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, "mul", as);
  if (is_float(as)) return decode_float_arithmetic(d, "mul", as);
  if (d.take("wide")) return decode_wide<false>(d, as);
  if (d.take("hi")) return void(d.emit(binary_of<op_high>(d, as), as, {as, as}));
  if (!d.take("lo")) d.refuse();
  d.emit(binary_of<op_low>(d, as), as, {as, as});
}

void decode_mad(decoding& d, bool carry_in)
{
  auto const as = d.take_type();
  if (is_float(as)) return decode_float_arithmetic(d, "fma", as);
  if (d.take("wide")) return decode_wide<true>(d, as);
  auto const take_high = d.take("hi");
  if (!take_high && !d.take("lo")) d.refuse();
  auto const carry_out = d.take("cc");
  if (carry_in || carry_out) {
    auto const run = for_integer(d, as, [&]<typename T>() -> handler {
      return take_high ? &multiply_with_carry<T, true> : &multiply_with_carry<T, false>;
    });
    d.emit(run, as, {as, as, as}).flags =
        (carry_in ? k_carry_in : 0U) | (carry_out ? k_carry_out : 0U);
    return;
  }
  d.emit(take_high ? ternary_of<op_high>(d, as) : ternary_of<op_low>(d, as), as, {as, as, as});
}

template <typename Op>
void decode_two(decoding& d, std::string_view name)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, name, as);
  if (is_float(as)) return decode_float_arithmetic(d, name, as);
  d.emit(binary_of<Op>(d, as), as, {as, as});
}

template <typename Op>
void decode_one(decoding& d, std::string_view name)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, name, as);
  if (is_float(as)) return decode_float_arithmetic(d, name, as);
  d.emit(for_integer(d, as, []<typename T>() -> handler { return &unary<T, T, Op>; }), as, {as});
}

template <bool Add>
void decode_24(decoding& d)
{
  auto const as = d.take_type();
  if (as != type::u32 && as != type::s32) d.refuse();
  auto const take_high = d.take("hi");
  if (!take_high && !d.take("lo")) d.refuse();
  auto const pick = [&]<typename T>() -> handler {
    if constexpr (Add)
      return take_high ? &ternary<T, T, op_24<true>> : &ternary<T, T, op_24<false>>;
    else
      return take_high ? &binary<T, T, op_24<true>> : &binary<T, T, op_24<false>>;
  };
  auto const run = for_integer(d, as, pick);
  if constexpr (Add)
    d.emit(run, as, {as, as, as});
  else
    d.emit(run, as, {as, as});
}

void decode_sad(decoding& d)
{
  auto const as = d.take_type();
  d.emit(ternary_of<op_difference>(d, as), as, {as, as, as});
}

}  // namespace

void add_integer(decode_table& to)
{
  to["add"] = [](decoding& d) { decode_sum<op_add, op_add_saturated, false>(d, "add"); };
  to["sub"] = [](decoding& d) { decode_sum<op_subtract, op_subtract_saturated, true>(d, "sub"); };
  to["addc"] = &decode_sum_with_carry<false>;
  to["subc"] = &decode_sum_with_carry<true>;
  to["mul"] = &decode_mul;
  to["mad"] = [](decoding& d) { decode_mad(d, false); };
  to["madc"] = [](decoding& d) { decode_mad(d, true); };
  to["mul24"] = &decode_24<false>;
  to["mad24"] = &decode_24<true>;
  to["min"] = [](decoding& d) { decode_two<op_min>(d, "min"); };
  to["max"] = [](decoding& d) { decode_two<op_max>(d, "max"); };
  to["div"] = [](decoding& d) { decode_two<op_divide>(d, "div"); };
  to["rem"] = [](decoding& d) { decode_two<op_remainder>(d, "rem"); };
  to["neg"] = [](decoding& d) { decode_one<op_negate>(d, "neg"); };
  to["abs"] = [](decoding& d) { decode_one<op_absolute>(d, "abs"); };
  to["sad"] = &decode_sad;
}

}  // namespace fatlink::interpreter
