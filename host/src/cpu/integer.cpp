// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Overflow wraps, as in hardware: signed types compute as unsigned ones.
// Source: PTX ISA 9.0, "Integer Arithmetic Instructions", "Extended-Precision Integer …".
#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/decoder.hpp"
#include "cpu/lanes.hpp"

namespace fatlink::cpu {
namespace {

__extension__ using wide_signed = __int128;
__extension__ using wide_unsigned = unsigned __int128;

template <typename T>
using twice =
    std::conditional_t<sizeof(T) == 8,
                       std::conditional_t<std::is_signed_v<T>, wide_signed, wide_unsigned>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <typename T>
constexpr auto bits_of(T value) noexcept
{
  return static_cast<std::make_unsigned_t<T>>(value);
}

template <typename T>
constexpr T high(T a, T b) noexcept
{
  return static_cast<T>(static_cast<twice<T>>(a) * static_cast<twice<T>>(b) >> (8 * sizeof(T)));
}

template <typename T>
constexpr T low(T a, T b) noexcept
{
  return static_cast<T>(static_cast<std::uint64_t>(bits_of(a)) * bits_of(b));
}

struct op_add {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(bits_of(a) + bits_of(b));
  }
};
struct op_subtract {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(bits_of(a) - bits_of(b));
  }
};
struct op_low {
  template <typename T>
  T operator()(T a, T b) const
  {
    return low(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(low(a, b), c);
  }
};
struct op_high {
  template <typename T>
  T operator()(T a, T b) const
  {
    return high(a, b);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(high(a, b), c);
  }
};
template <typename R>
struct op_wide {
  template <typename T>
  R operator()(T a, T b) const
  {
    return static_cast<R>(static_cast<R>(a) * static_cast<R>(b));
  }
  template <typename T>
  R operator()(T a, T b, R c) const
  {
    return op_add{}((*this)(a, b), c);
  }
};
struct op_min {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::min(a, b);
  }
};
struct op_max {
  template <typename T>
  T operator()(T a, T b) const
  {
    return std::max(a, b);
  }
};
/// Division by zero gives all ones, and the remainder the dividend, as GPUs do.
struct op_divide {
  template <typename T>
  T operator()(T a, T b) const
  {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return op_subtract{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct op_remainder {
  template <typename T>
  T operator()(T a, T b) const
  {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct op_negate {
  template <typename T>
  T operator()(T a) const
  {
    return op_subtract{}(T{0}, a);
  }
};
struct op_absolute {
  template <typename T>
  T operator()(T a) const
  {
    return a < 0 ? op_negate{}(a) : a;
  }
};
struct op_difference {
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}(a < b ? op_subtract{}(b, a) : op_subtract{}(a, b), c);
  }
};
struct op_add_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const
  {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} + b, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
};
struct op_subtract_saturated {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const
  {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} - b, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
};

template <bool High>
struct op_24 {
  template <typename T>
  T operator()(T a, T b) const
  {
    using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    auto const cut = [](T value) {  // sign- or zero-extended from bit 23
      return static_cast<wide>(static_cast<wide>(value) << 40) >> 40;
    };
    auto const product = static_cast<std::uint64_t>(cut(a) * cut(b));
    return static_cast<T>(High ? product >> 16 : product);
  }
  template <typename T>
  T operator()(T a, T b, T c) const
  {
    return op_add{}((*this)(a, b), c);
  }
};

enum carry_flags : std::uint32_t { k_carry_in = 1, k_carry_out = 2 };

/// add and sub with the carry of the condition code; a borrow is a carry of 0 … 1 subtracted.
template <typename T, bool Subtract>
void with_carry(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto* const d = w.at(o.d);
  for (auto left = mask; left != 0; left &= left - 1) {
    auto const i = static_cast<unsigned>(std::countr_zero(left));
    auto const in = (o.flags & k_carry_in) != 0 ? w.carry >> i & 1U : 0U;
    auto const x = load<T>(a, i);
    auto const y = load<T>(b, i);
    auto const sum = static_cast<T>(Subtract ? x - y - in : x + y + in);
    store<T>(d, i, sum);
    auto const out = Subtract ? (x < y || (x == y && in != 0)) : (sum < x || (in != 0 && sum == x));
    if ((o.flags & k_carry_out) != 0) w.carry = (w.carry & ~(1U << i)) | (out ? 1U << i : 0U);
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

operation& emit2(decoding& d, handler run, type as, type result)
{
  d.expect_count(3, 3);
  auto const a = d.source(1, as);
  auto const b = d.source(2, as);
  auto const to = d.destination(0, result);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.b = b;
  return o;
}

operation& emit3(decoding& d, handler run, type as, type result)
{
  d.expect_count(4, 4);
  auto const a = d.source(1, as);
  auto const b = d.source(2, as);
  auto const c = d.source(3, result);
  auto const to = d.destination(0, result);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.b = b;
  o.c = c;
  return o;
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
  emit2(d, run, as, as).flags = (in ? k_carry_in : 0U) | (out ? k_carry_out : 0U);
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
    emit2(d, &binary<std::int32_t, std::int32_t, Saturated>, as, as);
    return;
  }
  emit2(d, binary_of<Op>(d, as), as, as);
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
    emit3(d, run, as, result);
  else
    emit2(d, run, as, result);
}

void decode_mul(decoding& d)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, "mul", as);
  if (is_float(as)) return decode_float_arithmetic(d, "mul", as);
  if (d.take("wide")) return decode_wide<false>(d, as);
  if (d.take("hi")) return void(emit2(d, binary_of<op_high>(d, as), as, as));
  if (!d.take("lo")) d.refuse();
  emit2(d, binary_of<op_low>(d, as), as, as);
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
    emit3(d, run, as, as).flags = (carry_in ? k_carry_in : 0U) | (carry_out ? k_carry_out : 0U);
    return;
  }
  emit3(d, take_high ? ternary_of<op_high>(d, as) : ternary_of<op_low>(d, as), as, as);
}

template <typename Op>
void decode_two(decoding& d, std::string_view name)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, name, as);
  if (is_float(as)) return decode_float_arithmetic(d, name, as);
  emit2(d, binary_of<Op>(d, as), as, as);
}

template <typename Op>
void decode_one(decoding& d, std::string_view name)
{
  auto const as = d.take_type();
  if (as == type::f16 || as == type::bf16 || as == type::f16x2 || as == type::bf16x2)
    return decode_half_arithmetic(d, name, as);
  if (is_float(as)) return decode_float_arithmetic(d, name, as);
  d.expect_count(2, 2);
  auto const a = d.source(1, as);
  auto const to = d.destination(0, as);
  auto& o = d.emit(for_integer(d, as, []<typename T>() -> handler { return &unary<T, T, Op>; }));
  o.d = to;
  o.a = a;
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
    emit3(d, run, as, as);
  else
    emit2(d, run, as, as);
}

void decode_sad(decoding& d)
{
  auto const as = d.take_type();
  emit3(d, ternary_of<op_difference>(d, as), as, as);
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

}  // namespace fatlink::cpu
