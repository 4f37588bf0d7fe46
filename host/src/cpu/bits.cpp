// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and bit fields. Source: PTX ISA 9.0, "Logic and Shift Instructions" and the bit
// instructions of "Integer Arithmetic Instructions".
#include <algorithm>
#include <bit>

#include "cpu/decoder.hpp"
#include "cpu/lanes.hpp"

namespace fatlink::cpu {
namespace {

template <typename T>
constexpr unsigned k_bits = 8 * sizeof(T);

struct op_and {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a & b);
  }
};
struct op_or {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a | b);
  }
};
struct op_xor {
  template <typename T>
  T operator()(T a, T b) const
  {
    return static_cast<T>(a ^ b);
  }
};
struct op_not {
  template <typename T>
  T operator()(T a) const
  {
    return static_cast<T>(~a);
  }
};
struct op_is_zero {
  template <typename T>
  T operator()(T a) const
  {
    return a == 0 ? 1 : 0;
  }
};
struct op_population {
  template <typename T>
  std::uint32_t operator()(T a) const
  {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct op_leading_zeros {
  template <typename T>
  std::uint32_t operator()(T a) const
  {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct op_reverse {
  template <typename T>
  T operator()(T a) const
  {
    T reversed = 0;
    for (unsigned i = 0; i < k_bits<T>; ++i)
      reversed = static_cast<T>(reversed << 1 | (a >> i & 1));
    return reversed;
  }
};
/// The highest bit that differs from the sign; all ones where there is none.
template <bool ShiftAmount>
struct op_find {
  template <typename T>
  std::uint32_t operator()(T a) const
  {
    auto bits = static_cast<std::make_unsigned_t<T>>(a);
    if constexpr (std::is_signed_v<T>)
      if (a < 0) bits = static_cast<std::make_unsigned_t<T>>(~bits);
    if (bits == 0) return 0xFFFFFFFF;
    auto const leading = static_cast<std::uint32_t>(std::countl_zero(bits));
    return ShiftAmount ? leading : k_bits<T> - 1 - leading;
  }
};

/// Shifts by 32-bit amounts, clamped to the width.
template <typename T, bool Left>
void shift(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const x = load<T>(a, i);
    auto const by = load<std::uint32_t>(b, i);
    auto const most = k_bits<T> - 1;
    if constexpr (Left)
      store<T>(d, i, static_cast<T>(by > most ? T{0} : static_cast<T>(x << (by & most))));
    else
      store<T>(d, i,
               static_cast<T>(by > most ? static_cast<T>(x >> most >> (std::is_signed_v<T> ? 0 : 1))
                                        : static_cast<T>(x >> (by & most))));
  });
}

/// d = the upper (left) or lower (right) 32 bits of b:a shifted.
template <bool Left, bool Wrap>
struct op_funnel {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t by) const
  {
    auto const amount = Wrap ? by & 31U : std::min(by, 32U);
    auto const both = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(Left ? both << amount >> 32 : both >> amount);
  }
};

template <typename T>
void extract(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask, [=](unsigned i) {
    using bits = std::make_unsigned_t<T>;
    auto const x = load<T>(a, i);
    auto const from = load<std::uint32_t>(b, i) & 0xFFU;
    auto const length = load<std::uint32_t>(c, i) & 0xFFU;
    auto const top = k_bits<T> - 1;
    // Bits past the top, and a field of no bits at all, are the sign of the field's last bit.
    auto const sign_at = std::min(from + length - 1, top);
    bool const sign =
        std::is_signed_v<T> && length != 0 && (static_cast<bits>(x) >> sign_at & 1) != 0;
    bits field = from > top ? bits{0} : static_cast<bits>(static_cast<bits>(x) >> from);
    auto const kept = from > top ? 0U : std::min(length, k_bits<T> - from);
    auto const ones =
        kept >= k_bits<T> ? static_cast<bits>(~bits{0}) : static_cast<bits>((bits{1} << kept) - 1);
    field = static_cast<bits>(field & ones);
    if (sign) field = static_cast<bits>(field | static_cast<bits>(~ones));
    store<T>(d, i, static_cast<T>(field));
  });
}

template <typename T>
void insert(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const* const e = w.at(o.e);
  each_lane(mask, [=](unsigned i) {
    auto const from = load<std::uint32_t>(c, i) & 0xFFU;
    auto const length = load<std::uint32_t>(e, i) & 0xFFU;
    auto const field =
        length >= k_bits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    auto const ones = from >= k_bits<T> ? T{0} : static_cast<T>(field << from);
    auto const placed = from >= k_bits<T> ? T{0} : static_cast<T>(load<T>(a, i) << from);
    store<T>(d, i, static_cast<T>((load<T>(b, i) & ~ones) | (placed & ones)));
  });
}

void lop3(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const table = static_cast<std::uint32_t>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    auto const x = load<std::uint32_t>(a, i);
    auto const y = load<std::uint32_t>(b, i);
    auto const z = load<std::uint32_t>(c, i);
    std::uint32_t result = 0;
    for (unsigned term = 0; term < 8; ++term) {
      auto const wanted = 0U - (table >> term & 1U);
      result |= wanted & ((term & 4) != 0 ? x : ~x) & ((term & 2) != 0 ? y : ~y) &
                ((term & 1) != 0 ? z : ~z);
    }
    store(d, i, result);
  });
}

enum class permute_mode : std::uint32_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// The selector of destination byte `to` for the special modes: a source byte, 0 to 7.
unsigned permuted(permute_mode mode, unsigned selector, unsigned to) noexcept
{
  auto const s = selector & 3U;
  switch (mode) {
    case permute_mode::f4e:
      return s + to;
    case permute_mode::b4e:
      return (s - to) & 7U;
    case permute_mode::rc8:
      return s;
    case permute_mode::ecl:
      return std::max(s, to);
    case permute_mode::ecr:
      return std::min(s, to);
    case permute_mode::rc16:
      return (s & 1U) * 2 + (to & 1U);
    case permute_mode::index:
      break;
  }
  return selector >> (4 * to) & 0xFU;
}

void prmt(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const mode = static_cast<permute_mode>(o.flags);
  each_lane(mask, [=](unsigned i) {
    auto const both = std::uint64_t{load<std::uint32_t>(b, i)} << 32 | load<std::uint32_t>(a, i);
    auto const selector = load<std::uint32_t>(c, i);
    std::uint32_t result = 0;
    for (unsigned to = 0; to < 4; ++to) {
      auto const from = permuted(mode, selector, to);
      auto byte = static_cast<std::uint32_t>(both >> (8 * (from & 7U)) & 0xFFU);
      if ((from & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;  // the sign, repeated
      result |= byte << (8 * to);
    }
    store(d, i, result);
  });
}

/// Dot product of four bytes (or two halves with two bytes), added to c.
template <typename A, typename B, unsigned Count>
void dot(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const first = o.flags;  // of b's bytes: dp2a.hi begins at 2
  each_lane(mask, [=](unsigned i) {
    auto sum = load<std::uint32_t>(c, i);
    for (unsigned k = 0; k < Count; ++k) {
      auto const x = static_cast<A>(load<std::uint32_t>(a, i) >> (k * 8 * sizeof(A)));
      auto const y = static_cast<B>(load<std::uint32_t>(b, i) >> ((first + k) * 8));
      sum +=
          static_cast<std::uint32_t>(static_cast<std::int32_t>(x) * static_cast<std::int32_t>(y));
    }
    store(d, i, sum);
  });
}

template <typename Op>
void predicate_logic(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, Op{}(w.predicate(o.a), w.predicate(o.b)), mask);
}

template <typename Op>
void decode_logic(decoding& d)
{
  auto const as = d.take_type();
  d.expect_count(3, 3);
  if (as == type::pred) {
    auto const a = d.predicate(1);
    auto const b = d.predicate(2);
    auto const to = d.predicate_destination(d.operand(0));
    auto& o = d.emit(&predicate_logic<Op>);
    o.d = to;
    o.a = a;
    o.b = b;
    return;
  }
  auto const a = d.source(1, as);
  auto const b = d.source(2, as);
  auto const to = d.destination(0, as);
  auto& o =
      d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &binary<T, T, Op>; }));
  o.d = to;
  o.a = a;
  o.b = b;
}

void not_predicate(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, ~w.predicate(o.a), mask);
}

operation& emit_one(decoding& d, handler run, type as, type result)
{
  d.expect_count(2, 2);
  auto const a = d.source(1, as);
  auto const to = d.destination(0, result);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  return o;
}

void decode_not(decoding& d)
{
  auto const as = d.take_type();
  if (as != type::pred)
    return void(emit_one(
        d, for_bits(d, size_of(as), []<typename T>() -> handler { return &unary<T, T, op_not>; }),
        as, as));
  auto const a = d.predicate(1);
  auto const to = d.predicate_destination(d.operand(0));
  auto& o = d.emit(&not_predicate);
  o.d = to;
  o.a = a;
}

/// Operations on the bits of 16, 32 or 64; the result as wide, or 32 bits.
template <typename Op>
void decode_same_width(decoding& d)
{
  auto const as = d.take_type();
  emit_one(d, for_bits(d, size_of(as), []<typename T>() -> handler { return &unary<T, T, Op>; }),
           as, as);
}

template <typename Op>
void decode_count(decoding& d)
{
  auto const as = d.take_type();
  if (size_of(as) < 4) d.refuse();
  emit_one(d,
           for_bits(d, size_of(as),
                    []<typename T>() -> handler { return &unary<std::uint32_t, T, Op>; }),
           as, type::u32);
}

void decode_find(decoding& d)
{
  auto const as = d.take_type();
  auto const amount = d.take("shiftamt");
  emit_one(d,
           for_integer(d, as,
                       [&]<typename T>() -> handler {
                         return amount ? &unary<std::uint32_t, T, op_find<true>>
                                       : &unary<std::uint32_t, T, op_find<false>>;
                       }),
           as, type::u32);
}

operation& emit_shift(decoding& d, handler run, type as)
{
  d.expect_count(3, 3);
  auto const a = d.source(1, as);
  auto const b = d.source(2, type::u32);
  auto const to = d.destination(0, as);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.b = b;
  return o;
}

template <bool Left>
void decode_shift(decoding& d)
{
  auto const as = d.take_type();
  emit_shift(d, for_integer(d, as, []<typename T>() -> handler { return &shift<T, Left>; }), as);
}

operation& emit_three(decoding& d, handler run, type a_type, type b_type, type c_type, type result)
{
  auto const a = d.source(1, a_type);
  auto const b = d.source(2, b_type);
  auto const c = d.source(3, c_type);
  auto const to = d.destination(0, result);
  auto& o = d.emit(run);
  o.d = to;
  o.a = a;
  o.b = b;
  o.c = c;
  return o;
}

void decode_funnel(decoding& d)
{
  auto const as = d.take_type();
  auto const left = d.take("l");
  if (as != type::b32 || (!left && !d.take("r"))) d.refuse();
  auto const wrap = d.take("wrap");
  if (!wrap && !d.take("clamp")) d.refuse();
  d.expect_count(4, 4);
  using u32 = std::uint32_t;
  auto const run = left ? (wrap ? &ternary<u32, u32, op_funnel<true, true>>
                                : &ternary<u32, u32, op_funnel<true, false>>)
                        : (wrap ? &ternary<u32, u32, op_funnel<false, true>>
                                : &ternary<u32, u32, op_funnel<false, false>>);
  emit_three(d, run, as, as, type::u32, as);
}

void decode_extract(decoding& d)
{
  auto const as = d.take_type();
  d.expect_count(4, 4);
  emit_three(d, for_integer(d, as, []<typename T>() -> handler { return &extract<T>; }), as,
             type::u32, type::u32, as);
}

void decode_insert(decoding& d)
{
  auto const as = d.take_type();
  d.expect_count(5, 5);
  auto const length = d.source(4, type::u32);
  emit_three(d, for_bits(d, size_of(as), []<typename T>() -> handler { return &insert<T>; }), as,
             as, type::u32, as)
      .e = length;
}

void decode_lop3(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse();
  d.expect_count(5, 5);
  auto const table = d.integer(4);
  emit_three(d, &lop3, type::b32, type::b32, type::b32, type::b32).immediate = table & 0xFFU;
}

void decode_prmt(decoding& d)
{
  static constexpr std::pair<std::string_view, permute_mode> k_modes[] = {
      {"f4e", permute_mode::f4e}, {"b4e", permute_mode::b4e}, {"rc8", permute_mode::rc8},
      {"ecl", permute_mode::ecl}, {"ecr", permute_mode::ecr}, {"rc16", permute_mode::rc16}};
  auto found = permute_mode::index;
  for (auto const& [word, mode] : k_modes)
    if (d.take(word)) found = mode;
  if (d.take_type() != type::b32) d.refuse();
  d.expect_count(4, 4);
  emit_three(d, &prmt, type::b32, type::b32, type::b32, type::b32).flags =
      static_cast<std::uint32_t>(found);
}

template <unsigned Count, typename A_unsigned, typename A_signed>
void decode_dot(decoding& d)
{
  auto const b = d.take_type();
  auto const a = d.take_type();
  auto const upper = d.take("hi");
  (void)d.take("lo");
  d.expect_count(4, 4);
  handler run = nullptr;
  if (is_signed(a))
    run = is_signed(b) ? &dot<A_signed, std::int8_t, Count> : &dot<A_signed, std::uint8_t, Count>;
  else
    run =
        is_signed(b) ? &dot<A_unsigned, std::int8_t, Count> : &dot<A_unsigned, std::uint8_t, Count>;
  emit_three(d, run, type::b32, type::b32, type::b32, type::b32).flags = upper ? 2 : 0;
}

}  // namespace

void add_bits(decode_table& to)
{
  to["and"] = &decode_logic<op_and>;
  to["or"] = &decode_logic<op_or>;
  to["xor"] = &decode_logic<op_xor>;
  to["not"] = &decode_not;
  to["cnot"] = &decode_same_width<op_is_zero>;
  to["brev"] = &decode_same_width<op_reverse>;
  to["popc"] = &decode_count<op_population>;
  to["clz"] = &decode_count<op_leading_zeros>;
  to["bfind"] = &decode_find;
  to["shl"] = &decode_shift<true>;
  to["shr"] = &decode_shift<false>;
  to["shf"] = &decode_funnel;
  to["bfe"] = &decode_extract;
  to["bfi"] = &decode_insert;
  to["lop3"] = &decode_lop3;
  to["prmt"] = &decode_prmt;
  to["dp4a"] = &decode_dot<4, std::uint8_t, std::int8_t>;
  to["dp2a"] = &decode_dot<2, std::uint16_t, std::int16_t>;
}

}  // namespace fatlink::cpu
