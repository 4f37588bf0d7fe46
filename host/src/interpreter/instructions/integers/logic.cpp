// SPDX-License-Identifier: Apache-2.0
// Logic and shifts, on registers and predicates. Source: PTX ISA 9.0, "Logic and Shift
// Instructions".
#include <algorithm>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

struct op_not {
  template <typename T>
  T operator()(T a) const
  {
    return static_cast<T>(~a);
  }
};
/// Shifts by a 32-bit amount, clamped to the width.
template <typename T, bool Left>
void shift(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  each_lane(mask, [=](unsigned i) {
    auto const x = load<T>(a, i);
    auto const amount = load<std::uint32_t>(b, i);
    auto const max = k_bits<T> - 1;
    if constexpr (Left)
      store<T>(d, i, static_cast<T>(amount > max ? T{0} : static_cast<T>(x << (amount & max))));
    else
      store<T>(
          d, i,
          static_cast<T>(amount > max ? static_cast<T>(x >> max >> (std::is_signed_v<T> ? 0 : 1))
                                      : static_cast<T>(x >> (amount & max))));
  });
}

/// The upper (left) or lower (right) 32 bits of the shifted b:a.
template <bool Left, bool Wrap>
struct op_funnel {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const
  {
    auto const amount = Wrap ? c & 31U : std::min(c, 32U);
    auto const pair = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(Left ? pair << amount >> 32 : pair >> amount);
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
      auto const selected = 0U - (table >> term & 1U);
      result |= selected & ((term & 4) != 0 ? x : ~x) & ((term & 2) != 0 ? y : ~y) &
                ((term & 1) != 0 ? z : ~z);
    }
    store(d, i, result);
  });
}

/// p = (d != 0) BoolOp q; flags: whether the operation is `or`.
void lop3_predicate(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes; ++i) bits |= lane_mask{load<std::uint32_t>(a, i) != 0} << i;
  auto const q = w.predicate(o.c);
  w.set_predicate(o.d, o.flags != 0 ? bits | q : bits & q, mask);
}

template <typename Op>
void predicate_logic(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, Op{}(w.predicate(o.a), w.predicate(o.b)), mask);
}

template <typename Op>
void decode_logic(decoding& d)
{
  auto const type = d.take_type();
  d.expect_count(3, 3);
  if (type == type::pred) {
    auto const a = d.predicate(1);
    auto const b = d.predicate(2);
    auto const result = d.predicate_destination(d.operand(0));
    auto& o = d.emit(for_host<&predicate_logic<Op>>());
    o.d = result;
    o.a = a;
    o.b = b;
    return;
  }
  if (!is_integer(type)) d.refuse("not a supported type");
  d.emit(for_bits(d, size_of(type),
                  []<typename T>() -> handler { return for_host<&binary<T, T, Op>>(); }),
         type, {type, type});
}

void not_predicate(warp& w, operation const& o, lane_mask mask)
{
  w.set_predicate(o.d, ~w.predicate(o.a), mask);
}

void decode_not(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::pred && !is_integer(type)) d.refuse("not a supported type");
  if (type != type::pred)
    return void(
        d.emit(for_bits(d, size_of(type),
                        []<typename T>() -> handler { return for_host<&unary<T, T, op_not>>(); }),
               type, {type}));
  auto const a = d.predicate(1);
  auto const result = d.predicate_destination(d.operand(0));
  auto& o = d.emit(for_host<&not_predicate>());
  o.d = result;
  o.a = a;
}

template <bool Left>
void decode_shift(decoding& d)
{
  auto const type = d.take_type();
  d.emit(for_integer(d, type, []<typename T>() -> handler { return for_host<&shift<T, Left>>(); }),
         type, {type, type::u32});
}

void decode_funnel(decoding& d)
{
  auto const type = d.take_type();
  auto const is_left = d.take("l");
  if (type != type::b32 || (!is_left && !d.take("r"))) d.refuse();
  auto const wrap = d.take("wrap");
  if (!wrap && !d.take("clamp")) d.refuse();
  using u32 = std::uint32_t;
  auto const run = is_left ? (wrap ? for_host<&ternary<u32, u32, op_funnel<true, true>>>()
                                   : for_host<&ternary<u32, u32, op_funnel<true, false>>>())
                           : (wrap ? for_host<&ternary<u32, u32, op_funnel<false, true>>>()
                                   : for_host<&ternary<u32, u32, op_funnel<false, false>>>());
  d.emit(run, type, {type, type, type::u32});
}

/// lop3.and.b32 d|p, a, b, c, table, q.
void decode_lop3_predicate(decoding& d, bool is_or)
{
  d.expect_count(6, 6);
  auto const& results = d.operand(0);
  if (results.kind != syntax::operand_kind::pair) d.reject("the destination is not d|p");
  auto const a = d.source(1, type::b32);
  auto const b = d.source(2, type::b32);
  auto const c = d.source(3, type::b32);
  auto const q = d.predicate(5);
  auto const p = d.predicate_destination(results.parts[1]);
  auto const result = d.destination(results.parts[0], type::b32);
  auto& o = d.emit(&lop3);
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
  o.immediate = d.integer(4) & 0xFFU;
  auto& test = d.emit(&lop3_predicate);
  test.d = p;
  test.a = result;
  test.c = q;
  test.flags = is_or ? 1 : 0;
}

void decode_lop3(decoding& d)
{
  if (d.take_type() != type::b32) d.refuse();
  auto const is_or = d.take("or");
  if (is_or || d.take("and")) return decode_lop3_predicate(d, is_or);
  d.emit(for_host<&lop3>(), type::b32, {type::b32, type::b32, type::b32, type::b32}).immediate =
      d.integer(4) & 0xFFU;
}

}  // namespace

void add_logic(decode_table& table)
{
  table["and"] = &decode_logic<op_and>;
  table["or"] = &decode_logic<op_or>;
  table["xor"] = &decode_logic<op_xor>;
  table["not"] = &decode_not;
  table["shl"] = &decode_shift<true>;
  table["shr"] = &decode_shift<false>;
  table["shf"] = &decode_funnel;
  table["lop3"] = &decode_lop3;
}

}  // namespace fatlink::interpreter
