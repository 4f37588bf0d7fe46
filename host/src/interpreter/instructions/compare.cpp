// SPDX-License-Identifier: Apache-2.0
// setp and set. Source: PTX ISA 9.0, "Comparison and Selection Instructions".
#include <array>
#include <optional>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/float_ops.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::bfloat16;
using half_float::binary16;

// Of NaN the ordered comparisons say false, the unordered ones (…u) true.
enum class relation : std::uint32_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

struct relation_name {
  std::string_view word;
  relation is;
};
constexpr std::array k_relations{
    relation_name{"eq", relation::eq},   relation_name{"ne", relation::ne},
    relation_name{"lt", relation::lt},   relation_name{"le", relation::le},
    relation_name{"gt", relation::gt},   relation_name{"ge", relation::ge},
    relation_name{"lo", relation::lt},   relation_name{"ls", relation::le},
    relation_name{"hi", relation::gt},   relation_name{"hs", relation::ge},
    relation_name{"equ", relation::equ}, relation_name{"neu", relation::neu},
    relation_name{"ltu", relation::ltu}, relation_name{"leu", relation::leu},
    relation_name{"gtu", relation::gtu}, relation_name{"geu", relation::geu},
    relation_name{"num", relation::num}, relation_name{"nan", relation::nan}};

template <typename T>
bool is_nan(T value) noexcept
{
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

template <relation R, typename T>
bool holds(T a, T b) noexcept
{
  auto const unordered = is_nan(a) || is_nan(b);
  switch (R) {
    case relation::eq:
      return a == b;
    case relation::ne:
      return a != b && !unordered;
    case relation::lt:
      return a < b;
    case relation::le:
      return a <= b;
    case relation::gt:
      return a > b;
    case relation::ge:
      return a >= b;
    case relation::equ:
      return a == b || unordered;
    case relation::neu:
      return a != b;
    case relation::ltu:
      return a < b || unordered;
    case relation::leu:
      return a <= b || unordered;
    case relation::gtu:
      return a > b || unordered;
    case relation::geu:
      return a >= b || unordered;
    case relation::num:
      return !unordered;
    case relation::nan:
      return unordered;
  }
  return false;
}

/// What a lane's operand is compared as.
template <typename T, bool Ftz>
struct plain {
  static T read(std::byte const* from, unsigned i) noexcept
  {
    if constexpr (std::is_floating_point_v<T>)
      return flushed_if<Ftz>(load<T>(from, i));
    else
      return load<T>(from, i);
  }
};
template <typename Half>
struct widened {
  using is_half = void;
  static double read(std::byte const* from, unsigned i) noexcept
  {
    return to_double(Half{load<std::uint16_t>(from, i)});
  }
};

/// One bit a lane. Counted out, so that the compiler can do without branches.
template <typename Read, relation R, unsigned Stride, unsigned Part>
lane_mask compared(warp const& w, operation const& o) noexcept
{
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes; ++i)
    bits |= static_cast<lane_mask>(
                holds<R>(Read::read(a, i * Stride + Part), Read::read(b, i * Stride + Part)))
            << i;
  return bits;
}

enum class combination : std::uint32_t { none, conjunction, disjunction, exclusive };

lane_mask combined(lane_mask bits, lane_mask with, std::uint32_t how) noexcept
{
  switch (static_cast<combination>(how)) {
    case combination::conjunction:
      return bits & with;
    case combination::disjunction:
      return bits | with;
    case combination::exclusive:
      return bits ^ with;
    case combination::none:
      break;
  }
  return bits;
}

/// p = comparison BoolOp c; q = !comparison BoolOp c.
template <typename Read, relation R>
void setp(warp& w, operation const& o, lane_mask mask)
{
  auto const bits = compared<Read, R, 1, 0>(w, o);
  auto const with = w.predicate(o.c);
  w.set_predicate(o.d, combined(bits, with, o.flags), mask);
  w.set_predicate(o.e, combined(~bits, with, o.flags), mask);
}

/// Of a pair of halves: p of the lower ones, q of the upper ones.
template <typename Read, relation R>
void setp_pair(warp& w, operation const& o, lane_mask mask)
{
  auto const lower = compared<Read, R, 2, 0>(w, o);
  auto const upper = compared<Read, R, 2, 1>(w, o);
  auto const with = w.predicate(o.c);
  w.set_predicate(o.d, combined(lower, with, o.flags), mask);
  w.set_predicate(o.e, combined(upper, with, o.flags), mask);
}

/// A register set to all ones or 1.0 (immediate) where the comparison holds, else to 0.
template <typename D, typename Read, relation R>
void set(warp& w, operation const& o, lane_mask mask)
{
  auto const bits = combined(compared<Read, R, 1, 0>(w, o), w.predicate(o.c), o.flags);
  auto* const d = w.at(o.d);
  auto const yes = static_cast<D>(o.immediate);
  each_lane(mask, [=](unsigned i) { store<D>(d, i, (bits >> i & 1) != 0 ? yes : D{0}); });
}

template <typename Read, relation R>
void set_pair(warp& w, operation const& o, lane_mask mask)
{
  auto const lower = combined(compared<Read, R, 2, 0>(w, o), w.predicate(o.c), o.flags);
  auto const upper = combined(compared<Read, R, 2, 1>(w, o), w.predicate(o.c), o.flags);
  auto* const d = w.at(o.d);
  auto const yes = static_cast<std::uint16_t>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    store<std::uint16_t>(d, 2 * i, (lower >> i & 1) != 0 ? yes : 0);
    store<std::uint16_t>(d, 2 * i + 1, (upper >> i & 1) != 0 ? yes : 0);
  });
}

/// Calls make<R>() with the relation as a constant.
template <typename Make, std::size_t... I>
handler for_relation(relation is, Make const& make, std::index_sequence<I...>)
{
  handler found = nullptr;
  ((static_cast<std::size_t>(is) == I
        ? void(found = make.template operator()<static_cast<relation>(I)>())
        : void()),
   ...);
  return found;
}

/// Calls make<Read, R>() for the type compared. Pairs of halves are not among them.
template <typename Make>
handler for_comparison(decoding const& d, type as, bool ftz, relation is, Make const& make)
{
  auto const with = [&]<typename Read>() {
    return for_relation(
        is, [&]<relation R>() -> handler { return make.template operator()<Read, R>(); },
        std::make_index_sequence<14>{});
  };
  switch (as) {
    case type::f32:
      return ftz ? with.template operator()<plain<float, true>>()
                 : with.template operator()<plain<float, false>>();
    case type::f64:
      return with.template operator()<plain<double, false>>();
    case type::f16:
    case type::f16x2:
      return with.template operator()<widened<binary16>>();
    case type::bf16:
    case type::bf16x2:
      return with.template operator()<widened<bfloat16>>();
    default:
      if (is >= relation::equ) d.refuse();
      return for_integer(d, as, [&]<typename T>() -> handler {
        return with.template operator()<plain<T, false>>();
      });
  }
}

relation take_relation(decoding& d)
{
  auto const word = d.take_next();
  for (auto const& [name, is] : k_relations)
    if (name == word) return is;
  d.refuse("unknown comparison ." + std::string(word));
}

combination take_combination(decoding& d)
{
  if (d.take("and")) return combination::conjunction;
  if (d.take("or")) return combination::disjunction;
  if (d.take("xor")) return combination::exclusive;
  return combination::none;
}

bool is_pair(type as) noexcept
{
  return as == type::f16x2 || as == type::bf16x2;
}

void finish_comparison(decoding& d, handler run, type as, combination how, operand_offset to,
                       operand_offset second, std::uint64_t yes)
{
  d.expect_count(how == combination::none ? 3 : 4, how == combination::none ? 3 : 4);
  auto const a = d.source(1, as);
  auto const b = d.source(2, as);
  auto const c = how == combination::none ? k_false : d.predicate(3);
  auto& o = d.emit(run);
  o.d = to;
  o.e = second;
  o.a = a;
  o.b = b;
  o.c = c;
  o.flags = static_cast<std::uint32_t>(how);
  o.immediate = yes;
}

void decode_setp(decoding& d)
{
  auto const as = d.take_type();
  auto const is = take_relation(d);
  auto const how = take_combination(d);
  auto const ftz = d.take("ftz");
  auto const& to = d.operand(0);
  syntax::operand const nobody;
  auto const two = to.kind == syntax::operand_kind::pair;
  auto const p = d.predicate_destination(two ? to.parts[0] : to);
  auto const q = d.predicate_destination(two ? to.parts[1] : nobody);
  auto const run = for_comparison(d, as, ftz, is, [&]<typename Read, relation R>() -> handler {
    if constexpr (requires { typename Read::is_half; })
      if (is_pair(as)) return &setp_pair<Read, R>;
    return &setp<Read, R>;
  });
  finish_comparison(d, run, as, how, p, q, 0);
}

std::uint64_t one_in(decoding const& d, type result)
{
  switch (result) {
    case type::f32:
      return 0x3F800000;
    case type::f16:
    case type::f16x2:
      return 0x3C00;
    case type::bf16:
    case type::bf16x2:
      return 0x3F80;
    case type::u16:
    case type::s16:
      return 0xFFFF;
    case type::u32:
    case type::s32:
      return 0xFFFFFFFF;
    default:
      d.refuse();
  }
}

void decode_set(decoding& d)
{
  auto const as = d.take_type();
  auto const result = d.take_type();
  auto const is = take_relation(d);
  auto const how = take_combination(d);
  auto const ftz = d.take("ftz");
  auto const yes = one_in(d, result);
  auto const narrow = size_of(result) == 2;
  auto const run = for_comparison(d, as, ftz, is, [&]<typename Read, relation R>() -> handler {
    if constexpr (requires { typename Read::is_half; })
      if (is_pair(as)) return &set_pair<Read, R>;
    return narrow ? &set<std::uint16_t, Read, R> : &set<std::uint32_t, Read, R>;
  });
  auto const to = d.destination(0, result);
  finish_comparison(d, run, as, how, to, k_no_operand,
                    is_pair(as) && !is_pair(result) ? 0xFFFF : yes);
}

}  // namespace

void add_compare(decode_table& to)
{
  to["setp"] = &decode_setp;
  to["set"] = &decode_set;
}

}  // namespace fatlink::interpreter
