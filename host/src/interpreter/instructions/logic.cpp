// SPDX-License-Identifier: Apache-2.0
// Logic and shifts, on registers and predicates. Source: PTX ISA 9.0, "Logic and Shift
// Instructions".
#include <algorithm>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

template <typename T>
constexpr unsigned k_bits = 8 * sizeof(T);

struct op_not {
  template <typename T>
  T operator()(T a) const
  {
    return static_cast<T>(~a);
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
  d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &binary<T, T, Op>; }), as,
         {as, as});
}

void not_predicate(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, ~w.predicate(o.a), mask);
}

void decode_not(decoding& d)
{
  auto const as = d.take_type();
  if (as != type::pred)
    return void(d.emit(
        for_bits(d, size_of(as), []<typename T>() -> handler { return &unary<T, T, op_not>; }), as,
        {as}));
  auto const a = d.predicate(1);
  auto const to = d.predicate_destination(d.operand(0));
  auto& o = d.emit(&not_predicate);
  o.d = to;
  o.a = a;
}

template <bool Left>
void decode_shift(decoding& d)
{
  auto const as = d.take_type();
  d.emit(for_integer(d, as, []<typename T>() -> handler { return &shift<T, Left>; }), as,
         {as, type::u32});
}

void decode_funnel(decoding& d)
{
  auto const as = d.take_type();
  auto const left = d.take("l");
  if (as != type::b32 || (!left && !d.take("r"))) d.refuse();
  auto const wrap = d.take("wrap");
  if (!wrap && !d.take("clamp")) d.refuse();
  using u32 = std::uint32_t;
  auto const run = left ? (wrap ? &ternary<u32, u32, op_funnel<true, true>>
                                : &ternary<u32, u32, op_funnel<true, false>>)
                        : (wrap ? &ternary<u32, u32, op_funnel<false, true>>
                                : &ternary<u32, u32, op_funnel<false, false>>);
  d.emit(run, as, {as, as, type::u32});
}

void decode_lop3(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse();
  d.emit(&lop3, type::b32, {type::b32, type::b32, type::b32, type::b32}).immediate =
      d.integer(4) & 0xFFU;
}

}  // namespace

void add_logic(decode_table& to)
{
  to["and"] = &decode_logic<op_and>;
  to["or"] = &decode_logic<op_or>;
  to["xor"] = &decode_logic<op_xor>;
  to["not"] = &decode_not;
  to["shl"] = &decode_shift<true>;
  to["shr"] = &decode_shift<false>;
  to["shf"] = &decode_funnel;
  to["lop3"] = &decode_lop3;
}

}  // namespace fatlink::interpreter
