// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Overflow wraps as in hardware: signed types are computed as unsigned ones.
// Source: PTX ISA 9.0, "Integer Arithmetic Instructions", "Extended-Precision Integer …".
#include <algorithm>
#include <string_view>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

// add, min and max of pairs of 16-bit integers; min and max with .relu.

/// The result of Op, but at least 0.
template <typename Op>
struct op_relu {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::max(Op{}(a, b), T{0});
  }
};

template <typename T, typename Op>
void pairs(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    store(d, 2 * i, Op{}(load<T>(a, 2 * i), load<T>(b, 2 * i)));
    store(d, 2 * i + 1, Op{}(load<T>(a, 2 * i + 1), load<T>(b, 2 * i + 1)));
  });
}

template <typename T>
handler pick_packed(std::string_view name, bool relu)
{
  if (name == "add") return for_host<&pairs<T, op_add>>();
  if (name == "min")
    return relu ? for_host<&pairs<T, op_relu<op_min>>>() : for_host<&pairs<T, op_min>>();
  return relu ? for_host<&pairs<T, op_relu<op_max>>>() : for_host<&pairs<T, op_max>>();
}

void decode_relu(decoding& d, std::string_view name)
{
  using s32 = std::int32_t;
  if (name == "add" || d.take_type() != type::s32) d.fail_unsupported("it has no .relu");
  auto const run =
      name == "min" ? &binary<s32, s32, op_relu<op_min>> : &binary<s32, s32, op_relu<op_max>>;
  d.emit(run, type::s32, {type::s32, type::s32});
}

/// Decodes an add, min or max of .u16x2 or .s16x2, or a min or max of .s32 with .relu. False: it is
/// of another form. @throws code_error (refused).
bool decode_packed_integers(decoding& d, std::string_view name)
{
  auto const is_signed = d.take("s16x2");
  if (!is_signed && !d.take("u16x2")) {
    if (!d.take("relu")) return false;
    decode_relu(d, name);
    return true;
  }
  auto const relu = d.take("relu");
  if (relu && (!is_signed || name == "add")) d.fail_unsupported("it has no .relu");
  auto const run =
      is_signed ? pick_packed<std::int16_t>(name, relu) : pick_packed<std::uint16_t>(name, relu);
  d.emit(run, type::b32, {type::b32, type::b32});
  return true;
}

// All others.

/// An instruction that integers and floating-point numbers have.
void decode_real(decoding& d, std::string_view name, type type)
{
  if (is_half(type)) return decode_half_arithmetic(d, name, type);
  decode_float_arithmetic(d, name, type);
}

enum carry_flags : std::uint32_t { k_carry_in = 1, k_carry_out = 2 };

/// add and sub with the condition code's carry. As in hardware, a subtraction adds the complement
/// of b and 1: its carry is 1 if there was no borrow, and subc borrows if the carry is 0. Compilers
/// rely on this when they mix add.cc, sub.cc, addc, subc and madc. The PTX ISA describes a borrow
/// instead, but ptxas folds `sub.cc 5,7; addc 0,0` to 0.
template <typename T, bool Subtract>
void with_carry(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto* const d = w.at(o.d);
  auto const has_carry_in = (o.flags & k_carry_in) != 0;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
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
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(remaining));
    auto const carry_in = (o.flags & k_carry_in) != 0 ? w.carry >> i & 1U : 0U;
    auto const x = High ? high(load<T>(a, i), load<T>(b, i)) : low(load<T>(a, i), load<T>(b, i));
    auto const y = load<T>(c, i);
    auto const sum = static_cast<T>(bits_of(x) + bits_of(y) + carry_in);
    store<T>(d, i, sum);
    auto const carry_out = bits_of(sum) < bits_of(x) || (carry_in != 0 && sum == x);
    if ((o.flags & k_carry_out) != 0) w.carry = (w.carry & ~(1U << i)) | (carry_out ? 1U << i : 0U);
  }
}

template <typename Op>
handler binary_of(decoding const& d, type type)
{
  return for_integer(d, type,
                     []<typename T>() -> handler { return for_host<&binary<T, T, Op>>(); });
}

template <typename Op>
handler ternary_of(decoding const& d, type type)
{
  return for_integer(d, type,
                     []<typename T>() -> handler { return for_host<&ternary<T, T, Op>>(); });
}

template <bool Subtract>
void decode_carry(decoding& d, type type, bool carry_in, bool carry_out)
{
  if (size_of(type) < 4) d.fail_unsupported("not a supported type");
  auto const run = for_integer(d, type, []<typename T>() -> handler {
    return for_host<&with_carry<std::make_unsigned_t<T>, Subtract>>();
  });
  d.emit(run, type, {type, type}).flags =
      (carry_in ? k_carry_in : 0U) | (carry_out ? k_carry_out : 0U);
}

template <typename Op, typename Saturated, bool Subtract>
void decode_sum(decoding& d, std::string_view name)
{
  if (name == "add" && decode_packed_integers(d, name)) return;
  auto const type = d.take_type();
  if ((type == type::f16 || type == type::bf16) && d.take("f32"))
    return decode_mixed_arithmetic(d, name, type);
  if (is_float(type)) return decode_real(d, name, type);
  if (d.take("cc")) return decode_carry<Subtract>(d, type, false, true);
  if (d.take("sat")) {
    if (type != type::s32) d.fail_unsupported();
    d.emit(for_host<&binary<std::int32_t, std::int32_t, Saturated>>(), type, {type, type});
    return;
  }
  d.emit(binary_of<Op>(d, type), type, {type, type});
}

template <bool Subtract>
void decode_sum_with_carry(decoding& d)
{
  auto const type = d.take_type();
  decode_carry<Subtract>(d, type, true, d.take("cc"));
}

type twice_as_wide(decoding const& d, type type)
{
  switch (type) {
    case type::u16:
      return type::u32;
    case type::s16:
      return type::s32;
    case type::u32:
      return type::u64;
    case type::s32:
      return type::s64;
    default:
      d.fail_unsupported();
  }
}

template <bool Add>
void decode_wide(decoding& d, type type)
{
  auto const pick = [&]<typename T, typename R>() -> handler {
    if constexpr (Add)
      return for_host<&ternary<R, T, op_wide<R>>>();
    else
      return for_host<&binary<R, T, op_wide<R>>>();
  };
  auto const result = twice_as_wide(d, type);
  handler run = nullptr;
  if (type == type::u16) run = pick.template operator()<std::uint16_t, std::uint32_t>();
  if (type == type::s16) run = pick.template operator()<std::int16_t, std::int32_t>();
  if (type == type::u32) run = pick.template operator()<std::uint32_t, std::uint64_t>();
  if (type == type::s32) run = pick.template operator()<std::int32_t, std::int64_t>();
  if constexpr (Add)
    d.emit(run, result, {type, type, result});
  else
    d.emit(run, result, {type, type});
}

void decode_mul(decoding& d)
{
  auto const type = d.take_type();
  if (is_float(type)) return decode_real(d, "mul", type);
  if (d.take("wide")) return decode_wide<false>(d, type);
  if (d.take("hi")) return void(d.emit(binary_of<op_high>(d, type), type, {type, type}));
  if (!d.take("lo")) d.fail_unsupported();
  d.emit(binary_of<op_low>(d, type), type, {type, type});
}

void decode_mad(decoding& d, bool carry_in)
{
  auto const type = d.take_type();
  if (type == type::f32x2) d.fail_unsupported("not a supported type");
  if (is_float(type)) return decode_float_arithmetic(d, "fma", type);
  if (d.take("wide")) return decode_wide<true>(d, type);
  auto const take_high = d.take("hi");
  if (!take_high && !d.take("lo")) d.fail_unsupported();
  if (d.take("sat")) {
    if (type != type::s32 || !take_high || carry_in)
      d.fail_unsupported(".sat is valid only for mad.hi.s32");
    return void(
        d.emit(&ternary<std::int32_t, std::int32_t, op_high_saturated>, type, {type, type, type}));
  }
  auto const carry_out = d.take("cc");
  if (carry_in || carry_out) {
    if (size_of(type) < 4) d.fail_unsupported("not a supported type");
    auto const run = for_integer(d, type, [&]<typename T>() -> handler {
      return take_high ? for_host<&multiply_with_carry<T, true>>()
                       : for_host<&multiply_with_carry<T, false>>();
    });
    d.emit(run, type, {type, type, type}).flags =
        (carry_in ? k_carry_in : 0U) | (carry_out ? k_carry_out : 0U);
    return;
  }
  d.emit(take_high ? ternary_of<op_high>(d, type) : ternary_of<op_low>(d, type), type,
         {type, type, type});
}

/// min and max.
template <typename Op>
void decode_extreme(decoding& d, std::string_view name)
{
  if (decode_packed_integers(d, name)) return;
  auto const type = d.take_type();
  if (is_float(type) && decode_special_extreme(d, name == "max", type)) return;
  if (is_float(type)) return decode_real(d, name, type);
  d.emit(binary_of<Op>(d, type), type, {type, type});
}

/// div and rem.
template <typename Op>
void decode_two(decoding& d, std::string_view name)
{
  auto const type = d.take_type();
  if (is_float(type)) return decode_real(d, name, type);
  d.emit(binary_of<Op>(d, type), type, {type, type});
}

template <typename Op>
void decode_one(decoding& d, std::string_view name)
{
  auto const type = d.take_type();
  if (is_float(type)) return decode_real(d, name, type);
  d.emit(for_integer(d, type, []<typename T>() -> handler { return for_host<&unary<T, T, Op>>(); }),
         type, {type});
}

template <bool Add>
void decode_24(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::u32 && type != type::s32) d.fail_unsupported();
  auto const take_high = d.take("hi");
  if (!take_high && !d.take("lo")) d.fail_unsupported();
  if (Add && d.take("sat")) {
    if (type != type::s32 || !take_high) d.fail_unsupported(".sat is valid only for mad24.hi.s32");
    return void(
        d.emit(&ternary<std::int32_t, std::int32_t, op_24_saturated>, type, {type, type, type}));
  }
  auto const pick = [&]<typename T>() -> handler {
    if constexpr (Add)
      return take_high ? for_host<&ternary<T, T, op_24<true>>>()
                       : for_host<&ternary<T, T, op_24<false>>>();
    else
      return take_high ? for_host<&binary<T, T, op_24<true>>>()
                       : for_host<&binary<T, T, op_24<false>>>();
  };
  auto const run = for_integer(d, type, pick);
  if constexpr (Add)
    d.emit(run, type, {type, type, type});
  else
    d.emit(run, type, {type, type});
}

void decode_sad(decoding& d)
{
  auto const type = d.take_type();
  d.emit(ternary_of<op_difference>(d, type), type, {type, type, type});
}

}  // namespace

void add_integer(decode_table& table)
{
  table["add"] = [](decoding& d) { decode_sum<op_add, op_add_saturated, false>(d, "add"); };
  table["sub"] = [](decoding& d) {
    decode_sum<op_subtract, op_subtract_saturated, true>(d, "sub");
  };
  table["addc"] = &decode_sum_with_carry<false>;
  table["subc"] = &decode_sum_with_carry<true>;
  table["mul"] = &decode_mul;
  table["mad"] = [](decoding& d) { decode_mad(d, false); };
  table["madc"] = [](decoding& d) { decode_mad(d, true); };
  table["mul24"] = &decode_24<false>;
  table["mad24"] = &decode_24<true>;
  table["min"] = [](decoding& d) { decode_extreme<op_min>(d, "min"); };
  table["max"] = [](decoding& d) { decode_extreme<op_max>(d, "max"); };
  table["div"] = [](decoding& d) { decode_two<op_divide>(d, "div"); };
  table["rem"] = [](decoding& d) { decode_two<op_remainder>(d, "rem"); };
  table["neg"] = [](decoding& d) { decode_one<op_negate>(d, "neg"); };
  table["abs"] = [](decoding& d) { decode_one<op_absolute>(d, "abs"); };
  table["sad"] = &decode_sad;
}

}  // namespace fatlink::interpreter
