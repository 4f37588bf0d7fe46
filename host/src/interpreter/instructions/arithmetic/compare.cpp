// SPDX-License-Identifier: Apache-2.0
// Comparison (setp, set), selection (selp, slct), and tests of the class of a floating-point number
// (testp). Source: PTX ISA 9.0, "Comparison and Selection Instructions".
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/decode/operation.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/floats.hpp"
#include "interpreter/instructions/arithmetic/half.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

// The comparisons of setp and set, and their combination with a predicate.

/// With a NaN operand, ordered comparisons are false and unordered ones (…u) true.
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
  relation value;
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

/// How setp and set combine the comparison with a predicate; in operation::flags.
enum class combination : std::uint32_t { none, conjunction, disjunction, exclusive };

inline lane_mask combined(lane_mask bits, lane_mask operand, std::uint32_t code) noexcept
{
  switch (static_cast<combination>(code)) {
    case combination::conjunction:
      return bits & operand;
    case combination::disjunction:
      return bits | operand;
    case combination::exclusive:
      return bits ^ operand;
    case combination::none:
      break;
  }
  return bits;
}

using half_float::bfloat16;
using half_float::binary16;

/// Reads a lane's operand as the type T that is compared.
template <typename T, bool Ftz>
struct plain {
  static T read(std::byte const* lanes, unsigned i) noexcept
  {
    if constexpr (std::is_floating_point_v<T>)
      return flushed_if<Ftz>(load<T>(lanes, i));
    else
      return load<T>(lanes, i);
  }
};
/// Reads a 16-bit floating-point operand as double.
template <typename Half, bool Ftz>
struct widened {
  using is_half = void;
  static double read(std::byte const* lanes, unsigned i) noexcept
  {
    auto const bits = load<std::uint16_t>(lanes, i);
    return to_double(Half{Ftz ? half_numbers::flushed<Half>(bits) : bits});
  }
};

/// The result, one bit for each lane. Computes all lanes, so that the loop has no branches.
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

/// p = comparison BoolOp c; q = !comparison BoolOp c.
template <typename Read, relation R>
void setp(warp& w, operation const& o, lane_mask mask)
{
  auto const bits = compared<Read, R, 1, 0>(w, o);
  auto const operand = w.predicate(o.c);
  w.set_predicate(o.d, combined(bits, operand, o.flags), mask);
  w.set_predicate(o.e, combined(~bits, operand, o.flags), mask);
}

/// For pairs of halves: p is the result of the lower halves, q of the upper halves.
template <typename Read, relation R>
void setp_pair(warp& w, operation const& o, lane_mask mask)
{
  auto const lower = compared<Read, R, 2, 0>(w, o);
  auto const upper = compared<Read, R, 2, 1>(w, o);
  auto const operand = w.predicate(o.c);
  w.set_predicate(o.d, combined(lower, operand, o.flags), mask);
  w.set_predicate(o.e, combined(upper, operand, o.flags), mask);
}

/// Sets a register to all ones or 1.0 (`immediate`) if the comparison holds, else to 0.
template <typename D, typename Read, relation R>
void set(warp& w, operation const& o, lane_mask mask)
{
  auto const bits = combined(compared<Read, R, 1, 0>(w, o), w.predicate(o.c), o.flags);
  auto* const d = w.at(o.d);
  auto const true_bits = static_cast<D>(o.immediate);
  each_lane(mask, [=](unsigned i) { store<D>(d, i, (bits >> i & 1) != 0 ? true_bits : D{0}); });
}

template <typename Read, relation R>
void set_pair(warp& w, operation const& o, lane_mask mask)
{
  auto const lower = combined(compared<Read, R, 2, 0>(w, o), w.predicate(o.c), o.flags);
  auto const upper = combined(compared<Read, R, 2, 1>(w, o), w.predicate(o.c), o.flags);
  auto* const d = w.at(o.d);
  auto const true_bits = static_cast<std::uint16_t>(o.immediate);
  each_lane(mask, [=](unsigned i) {
    store<std::uint16_t>(d, 2 * i, (lower >> i & 1) != 0 ? true_bits : 0);
    store<std::uint16_t>(d, 2 * i + 1, (upper >> i & 1) != 0 ? true_bits : 0);
  });
}

/// Calls make<R>() with the relation as a constant.
template <typename Make, std::size_t... I>
handler for_relation(relation value, Make const& make, std::index_sequence<I...>)
{
  handler run = nullptr;
  ((static_cast<std::size_t>(value) == I
        ? void(run = make.template operator()<static_cast<relation>(I)>())
        : void()),
   ...);
  return run;
}

/// Calls make<Read, R>() for the type and the relation. Pairs of halves are read one half at a
/// time.
template <typename Make>
handler for_comparison(decoding const& d, type type, bool ftz, relation relation, Make const& make)
{
  auto const for_type = [&]<typename Read>() {
    return for_relation(
        relation,
        [&]<interpreter::relation R>() -> handler { return make.template operator()<Read, R>(); },
        std::make_index_sequence<14>{});
  };
  switch (type) {
    case type::f32:
      return ftz ? for_type.template operator()<plain<float, true>>()
                 : for_type.template operator()<plain<float, false>>();
    case type::f64:
      return for_type.template operator()<plain<double, false>>();
    case type::f16:
    case type::f16x2:
      return ftz ? for_type.template operator()<widened<binary16, true>>()
                 : for_type.template operator()<widened<binary16, false>>();
    case type::bf16:
    case type::bf16x2:
      return for_type.template operator()<widened<bfloat16, false>>();
    default:
      if (relation >= relation::equ) d.fail_unsupported();
      return for_integer(d, type, [&]<typename T>() -> handler {
        return for_type.template operator()<plain<T, false>>();
      });
  }
}

relation take_relation(decoding& d)
{
  auto const word = d.take_next();
  for (auto const& [name, relation] : k_relations)
    if (name == word) return relation;
  d.fail_unsupported("unknown comparison ." + std::string(word));
}

combination take_combination(decoding& d)
{
  if (d.take("and")) return combination::conjunction;
  if (d.take("or")) return combination::disjunction;
  if (d.take("xor")) return combination::exclusive;
  return combination::none;
}

/// Only f32, f16 and f16x2 have .ftz.
bool take_flush(decoding& d, type type)
{
  return (type == type::f32 || is_binary16(type)) && d.take("ftz");
}

/// Where a comparison writes: d and e of its operation, and the bits that mean true.
struct comparison_results {
  operand_offset d = k_no_operand;
  operand_offset e = k_no_operand;
  std::uint64_t true_bits = 0;
};

bool is_pair(type type) noexcept
{
  return type == type::f16x2 || type == type::bf16x2;
}

/// Emits a comparison of operands 1 and 2, combined with the predicate operand 3, if any.
void emit_comparison(decoding& d, handler run, type type, combination combination,
                     comparison_results const& results)
{
  auto const is_combined = combination != combination::none;
  d.expect_count(is_combined ? 4 : 3, is_combined ? 4 : 3);
  auto const a = d.source(1, type);
  auto const b = d.source(2, type);
  auto const c = is_combined ? d.predicate(3) : k_false;
  auto& o = d.emit(run);
  o.d = results.d;
  o.e = results.e;
  o.a = a;
  o.b = b;
  o.c = c;
  o.flags = static_cast<std::uint32_t>(combination);
  o.immediate = results.true_bits;
}

void decode_setp(decoding& d)
{
  auto const type = d.take_type();
  auto const relation = take_relation(d);
  auto const combination = take_combination(d);
  auto const ftz = take_flush(d, type);
  auto const& results = d.operand(0);
  syntax::operand const sink;
  auto const has_two = results.kind == syntax::operand_kind::pair;
  auto const p = d.predicate_destination(has_two ? results.parts[0] : results);
  auto const q = d.predicate_destination(has_two ? results.parts[1] : sink);
  auto const run = for_comparison(d, type, ftz, relation,
                                  [&]<typename Read, interpreter::relation R>() -> handler {
                                    if constexpr (requires { typename Read::is_half; })
                                      if (is_pair(type)) return for_host<&setp_pair<Read, R>>();
                                    return for_host<&setp<Read, R>>();
                                  });
  emit_comparison(d, run, type, combination, {.d = p, .e = q, .true_bits = 0});
}

/// The bits of the value that `set` writes if the comparison holds.
std::uint64_t true_bits_of(decoding const& d, type result)
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
      d.fail_unsupported();
  }
}

void decode_set(decoding& d)
{
  auto const type = d.take_type();
  auto const result_type = d.take_type();
  auto const relation = take_relation(d);
  auto const combination = take_combination(d);
  auto const ftz = take_flush(d, type);
  auto const true_bits =
      is_pair(type) && !is_pair(result_type) ? 0xFFFF : true_bits_of(d, result_type);
  auto const is_narrow = size_of(result_type) == 2;
  auto const run = for_comparison(d, type, ftz, relation,
                                  [&]<typename Read, interpreter::relation R>() -> handler {
                                    if constexpr (requires { typename Read::is_half; })
                                      if (is_pair(type)) return for_host<&set_pair<Read, R>>();
                                    return is_narrow ? for_host<&set<std::uint16_t, Read, R>>()
                                                     : for_host<&set<std::uint32_t, Read, R>>();
                                  });
  auto const result = d.destination(0, result_type);
  emit_comparison(d, run, type, combination,
                  {.d = result, .e = k_no_operand, .true_bits = true_bits});
}

// selp, slct, testp.

template <typename T>
void selp(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const bits = w.predicate(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const x = load<T>(a, i);
    auto const y = load<T>(b, i);
    store<T>(d, i, (bits >> i & 1) != 0 ? x : y);
  });
}

void decode_selp(decoding& d)
{
  auto const type = d.take_type();
  d.expect_count(4, 4);
  auto const a = d.source(1, type);
  auto const b = d.source(2, type);
  auto const c = d.predicate(3);
  auto const result = d.destination(0, type);
  auto& o = d.emit(
      for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&selp<T>>(); }));
  o.d = result;
  o.a = a;
  o.b = b;
  o.c = c;
}

/// d = c ≥ 0 ? a : b. −0 counts as ≥ 0, NaN does not.
template <typename T, typename C, bool Ftz>
void slct(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const selector = flushed_if<Ftz>(load<C>(c, i));
    store<T>(d, i, selector >= C{0} ? load<T>(a, i) : load<T>(b, i));
  });
}

void decode_slct(decoding& d)
{
  auto const selector_type = d.take_type();
  auto const type = d.take_type();
  auto const ftz = d.take("ftz");
  if (selector_type != type::s32 && selector_type != type::f32) d.fail_unsupported();
  if (ftz && selector_type != type::f32) d.fail_unsupported();
  auto const run = for_bits(d, size_of(type), [&]<typename T>() -> handler {
    if (ftz) return for_host<&slct<T, float, true>>();
    return selector_type == type::f32 ? for_host<&slct<T, float, false>>()
                                      : for_host<&slct<T, std::int32_t, false>>();
  });
  d.emit(run, type, {type, type, selector_type});
}

template <typename F>
bool is_class(F value, std::string_view name) noexcept
{
  if (name == "finite") return std::isfinite(value);
  if (name == "infinite") return std::isinf(value);
  if (name == "number") return !std::isnan(value);
  if (name == "notanumber") return std::isnan(value);
  if (name == "normal") return std::isnormal(value) || value == 0;
  return std::fpclassify(value) == FP_SUBNORMAL;
}

constexpr std::array<std::string_view, 6> k_classes{"finite",     "infinite", "number",
                                                    "notanumber", "normal",   "subnormal"};

template <typename F>
void testp(warp& w, operation const& o, lane_mask mask)
{
  auto const* const a = w.at(o.a);
  lane_mask bits = 0;
  for (unsigned i = 0; i < k_lanes; ++i)
    bits |= static_cast<lane_mask>(is_class(load<F>(a, i), k_classes[o.flags])) << i;
  w.set_predicate(o.d, bits, mask);
}

void decode_testp(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::f32 && type != type::f64) d.fail_unsupported();
  d.expect_count(2, 2);
  for (std::uint32_t i = 0; i < k_classes.size(); ++i) {
    if (!d.take(k_classes[i])) continue;
    auto const a = d.source(1, type);
    auto const result = d.predicate_destination(d.operand(0));
    auto& o = d.emit(type == type::f64 ? for_host<&testp<double>>() : for_host<&testp<float>>());
    o.d = result;
    o.a = a;
    o.flags = i;
    return;
  }
  d.fail_unsupported();
}

}  // namespace

void add_compare(decode_table& table)
{
  table["setp"] = &decode_setp;
  table["set"] = &decode_set;
  table["selp"] = &decode_selp;
  table["slct"] = &decode_slct;
  table["testp"] = &decode_testp;
}

}  // namespace fatlink::interpreter
