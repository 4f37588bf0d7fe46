// SPDX-License-Identifier: Apache-2.0
// Instructions on bits: logic and shifts (and, or, xor, not, shl, shr, shf, lop3), fields and
// counts (bfe, bfi, brev, popc, clz, bfind, cnot, bmsk, szext, fns), bytes (prmt, dp4a, dp2a).
// Source: PTX ISA 9.0, "Logic and Shift Instructions", "Integer Arithmetic Instructions", "prmt".
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/arithmetic/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

// Logic and shifts, on registers and predicates.

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
  if (!is_integer(type)) d.fail_unsupported("not a supported type");
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
  if (type != type::pred && !is_integer(type)) d.fail_unsupported("not a supported type");
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
  if (type != type::b32 || (!is_left && !d.take("r"))) d.fail_unsupported();
  auto const wrap = d.take("wrap");
  if (!wrap && !d.take("clamp")) d.fail_unsupported();
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
  if (d.take_type() != type::b32) d.fail_unsupported();
  auto const is_or = d.take("or");
  if (is_or || d.take("and")) return decode_lop3_predicate(d, is_or);
  d.emit(for_host<&lop3>(), type::b32, {type::b32, type::b32, type::b32, type::b32}).immediate =
      d.integer(4) & 0xFFU;
}

// Fields and counts.

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
    for (unsigned width = k_bits<T> / 2; width != 0; width /= 2) {
      auto const lower = static_cast<T>(~T{0} / ((T{1} << width) + 1));  // of each pair of fields
      a = static_cast<T>((a >> width & lower) | (a & lower) << width);
    }
    return a;
  }
};
/// The highest bit that differs from the sign; all ones if there is none.
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

/// The bits of the start and of the length of a field that bfe and bfi read: 8, but all for fields
/// of 64 bits (measured on an H100; the PTX manual: 8).
template <typename T>
constexpr std::uint32_t k_field_operand = sizeof(T) == 8 ? ~std::uint32_t{0} : 0xFFU;

/// Bits `start` to `start + length - 1` of `value`. Missing bits, also those of an empty field, are
/// the sign: the last bit of the field, of a signed type.
template <typename T>
T extracted(T value, unsigned start, unsigned length) noexcept
{
  using unsigned_type = std::make_unsigned_t<T>;
  auto const bits = static_cast<unsigned_type>(value);
  auto const top = k_bits<T> - 1;
  auto const last = std::min<std::uint64_t>(std::uint64_t{start} + length - 1, top);
  bool const sign = std::is_signed_v<T> && length != 0 && (bits >> last & 1) != 0;
  auto const available = start > top ? 0U : std::min(length, k_bits<T> - start);
  auto const field_mask = available >= k_bits<T>
                              ? static_cast<unsigned_type>(~unsigned_type{0})
                              : static_cast<unsigned_type>((unsigned_type{1} << available) - 1);
  auto field =
      start > top ? unsigned_type{0} : static_cast<unsigned_type>((bits >> start) & field_mask);
  if (sign) field = static_cast<unsigned_type>(field | static_cast<unsigned_type>(~field_mask));
  return static_cast<T>(field);
}

template <typename T>
void extract(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  each_lane(mask, [=](unsigned i) {
    auto const start = load<std::uint32_t>(b, i) & k_field_operand<T>;
    auto const length = load<std::uint32_t>(c, i) & k_field_operand<T>;
    store<T>(d, i, extracted(load<T>(a, i), start, length));
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
    auto const start = load<std::uint32_t>(c, i) & k_field_operand<T>;
    auto const length = load<std::uint32_t>(e, i) & k_field_operand<T>;
    auto const field =
        length >= k_bits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    auto const field_mask = start >= k_bits<T> ? T{0} : static_cast<T>(field << start);
    auto const placed = start >= k_bits<T> ? T{0} : static_cast<T>(load<T>(a, i) << start);
    store<T>(d, i, static_cast<T>((load<T>(b, i) & ~field_mask) | (placed & field_mask)));
  });
}

/// An operation on 16, 32 or 64 bits with a result of the same width.
template <typename Op, unsigned Minimum>
void decode_same_width(decoding& d)
{
  auto const type = d.take_integer_type(Minimum);
  d.emit(for_bits(d, size_of(type),
                  []<typename T>() -> handler { return for_host<&unary<T, T, Op>>(); }),
         type, {type});
}

/// An operation on 32 or 64 bits with a result of 32 bits.
template <typename Op>
void decode_count(decoding& d)
{
  auto const type = d.take_integer_type(4);
  auto const run = for_bits(d, size_of(type), []<typename T>() -> handler {
    return for_host<&unary<std::uint32_t, T, Op>>();
  });
  d.emit(run, type::u32, {type});
}

void decode_find(decoding& d)
{
  auto const type = d.take_integer_type(4);
  auto const amount = d.take("shiftamt");
  auto const run = for_integer(d, type, [&]<typename T>() -> handler {
    return amount ? for_host<&unary<std::uint32_t, T, op_find<true>>>()
                  : for_host<&unary<std::uint32_t, T, op_find<false>>>();
  });
  d.emit(run, type::u32, {type});
}

void decode_extract(decoding& d)
{
  auto const type = d.take_integer_type(4);
  d.emit(for_integer(d, type, []<typename T>() -> handler { return for_host<&extract<T>>(); }),
         type, {type, type::u32, type::u32});
}

void decode_insert(decoding& d)
{
  auto const type = d.take_integer_type(4);
  d.emit(for_bits(d, size_of(type), []<typename T>() -> handler { return for_host<&insert<T>>(); }),
         type, {type, type, type::u32, type::u32});
}

// bmsk, szext and fns.

/// Ones from bit `start` on; all positions beyond 31 are none.
std::uint32_t ones_from(std::uint32_t start) noexcept
{
  return start < 32 ? 0xFFFFFFFFU << start : 0U;
}

/// `width` ones from bit `start` on. `.wrap` reads both modulo 32.
template <bool Clamp>
struct op_mask {
  std::uint32_t operator()(std::uint32_t start, std::uint32_t width) const
  {
    if (Clamp && start >= 32) return 0;
    auto const begin = start & 31U;
    if (Clamp && width >= 32) return ones_from(begin);
    return ones_from(begin) & ~ones_from(begin + (width & 31U));
  }
};

/// Extends the lower `width` bits with zeros or, if T is signed, with the sign.
template <bool Clamp>
struct op_extend {
  template <typename T>
  T operator()(T value, T width) const
  {
    auto const bits = static_cast<std::uint32_t>(value);
    auto const count = static_cast<std::uint32_t>(width);
    if (Clamp && count >= 32) return value;
    auto const kept = count & 31U;
    auto const upper = ones_from(kept);
    auto const sign = std::is_signed_v<T> && kept != 0 && (bits >> (kept - 1) & 1U) != 0;
    return static_cast<T>(sign ? bits | upper : bits & ~upper);
  }
};

/// The position of the n-th one of `bits` from `base` on, upwards (n > 0) or downwards (n < 0); n =
/// 0: base itself if its bit is one. All ones if there is none.
std::uint32_t nth_set(std::uint32_t bits, std::uint32_t base, std::int32_t n) noexcept
{
  constexpr std::uint32_t k_none = 0xFFFFFFFF;
  if (base > 31) return k_none;
  if (n == 0) return (bits >> base & 1U) != 0 ? base : k_none;
  auto remaining = std::abs(std::int64_t{n});
  auto const step = n > 0 ? 1 : -1;
  for (auto position = static_cast<int>(base); position >= 0 && position < 32; position += step)
    if ((bits >> position & 1U) != 0 && --remaining == 0)
      return static_cast<std::uint32_t>(position);
  return k_none;
}

struct op_nth_set {
  std::uint32_t operator()(std::uint32_t bits, std::uint32_t base, std::uint32_t n) const
  {
    return nth_set(bits, base, static_cast<std::int32_t>(n));
  }
};

/// Whether the mode is .clamp; the other one is .wrap.
bool take_clamp(decoding& d)
{
  auto const clamp = d.take("clamp");
  if (!clamp && !d.take("wrap")) d.fail_unsupported("neither .clamp nor .wrap");
  return clamp;
}

void decode_mask(decoding& d)
{
  if (d.take_type() != type::b32) d.fail_unsupported("not a supported type");
  using u32 = std::uint32_t;
  auto const run =
      take_clamp(d) ? &binary<u32, u32, op_mask<true>> : &binary<u32, u32, op_mask<false>>;
  d.emit(run, type::b32, {type::b32, type::b32});
}

template <typename T>
handler extension(bool clamp)
{
  return clamp ? &binary<T, T, op_extend<true>> : &binary<T, T, op_extend<false>>;
}

void decode_extend(decoding& d)
{
  auto const type = d.take_type();
  if (type != type::u32 && type != type::s32) d.fail_unsupported("not a supported type");
  auto const clamp = take_clamp(d);
  d.emit(is_signed(type) ? extension<std::int32_t>(clamp) : extension<std::uint32_t>(clamp), type,
         {type, type::u32});
}

void decode_nth_set(decoding& d)
{
  if (d.take_type() != type::b32) d.fail_unsupported("not a supported type");
  d.emit(&ternary<std::uint32_t, std::uint32_t, op_nth_set>, type::b32,
         {type::b32, type::b32, type::b32});
}

// prmt, dp4a and dp2a: instructions on the bytes of registers.

enum class permute_mode : std::uint32_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// The source byte of destination byte `index`: 0 to 7, plus 8 to repeat its sign (mode index).
unsigned permuted(permute_mode mode, unsigned selector, unsigned index) noexcept
{
  auto const s = selector & 3U;
  switch (mode) {
    case permute_mode::f4e:
      return s + index;
    case permute_mode::b4e:
      return (s - index) & 7U;
    case permute_mode::rc8:
      return s;
    case permute_mode::ecl:
      return std::max(s, index);
    case permute_mode::ecr:
      return std::min(s, index);
    case permute_mode::rc16:
      return (s & 1U) * 2 + (index & 1U);
    case permute_mode::index:
      break;
  }
  return selector >> (4 * index) & 0xFU;
}

/// prmt without a mode, without branches, so that loops are vectorised.
inline std::uint32_t permuted_by_index(std::uint32_t a, std::uint32_t b,
                                       std::uint32_t selector) noexcept
{
  std::uint32_t result = 0;
  for (unsigned index = 0; index < 4; ++index) {
    auto const nibble = selector >> (4 * index);
    auto const from_b = 0U - (nibble >> 2 & 1U);
    auto const word = (b & from_b) | (a & ~from_b);
    auto const byte = word >> (8 * (nibble & 3U)) & 0xFFU;
    auto const sign = (0U - (byte >> 7)) & 0xFFU;
    auto const repeats_sign = 0U - (nibble >> 3 & 1U);
    result |= ((sign & repeats_sign) | (byte & ~repeats_sign)) << (8 * index);
  }
  return result;
}

void prmt(warp& w, operation const& o, lane_mask mask)
{
  auto* const d = w.at(o.d);
  auto const* const a = w.at(o.a);
  auto const* const b = w.at(o.b);
  auto const* const c = w.at(o.c);
  auto const mode = static_cast<permute_mode>(o.flags);
  if (mode == permute_mode::index)
    return each_lane(mask, [=](unsigned i) {
      store(d, i,
            permuted_by_index(load<std::uint32_t>(a, i), load<std::uint32_t>(b, i),
                              load<std::uint32_t>(c, i)));
    });
  each_lane(mask, [=](unsigned i) {
    auto const bytes = std::uint64_t{load<std::uint32_t>(b, i)} << 32 | load<std::uint32_t>(a, i);
    auto const selector = load<std::uint32_t>(c, i);
    std::uint32_t result = 0;
    for (unsigned index = 0; index < 4; ++index) {
      auto const source = permuted(mode, selector, index);
      auto byte = static_cast<std::uint32_t>(bytes >> (8 * (source & 7U)) & 0xFFU);
      if ((source & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;  // the sign, repeated
      result |= byte << (8 * index);
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
  auto const offset = o.flags;  // of the first byte of b: 2 for dp2a.hi
  each_lane(mask, [=](unsigned i) {
    auto sum = load<std::uint32_t>(c, i);
    for (unsigned k = 0; k < Count; ++k) {
      auto const x = static_cast<A>(load<std::uint32_t>(a, i) >> (k * 8 * sizeof(A)));
      auto const y = static_cast<B>(load<std::uint32_t>(b, i) >> ((offset + k) * 8));
      sum +=
          static_cast<std::uint32_t>(static_cast<std::int32_t>(x) * static_cast<std::int32_t>(y));
    }
    store(d, i, sum);
  });
}

void decode_prmt(decoding& d)
{
  static constexpr std::pair<std::string_view, permute_mode> k_modes[] = {
      {"f4e", permute_mode::f4e}, {"b4e", permute_mode::b4e}, {"rc8", permute_mode::rc8},
      {"ecl", permute_mode::ecl}, {"ecr", permute_mode::ecr}, {"rc16", permute_mode::rc16}};
  auto selected = permute_mode::index;
  for (auto const& [word, mode] : k_modes)
    if (d.take(word)) selected = mode;
  if (d.take_type() != type::b32) d.fail_unsupported();
  d.emit(for_host<&prmt>(), type::b32, {type::b32, type::b32, type::b32}).flags =
      static_cast<std::uint32_t>(selected);
}

template <unsigned Count, typename A_unsigned, typename A_signed>
void decode_dot(decoding& d)
{
  auto const b = d.take_type();
  auto const a = d.take_type();
  auto const is_32_bits = [](type type) { return type == type::u32 || type == type::s32; };
  if (!is_32_bits(a) || !is_32_bits(b)) d.fail_unsupported();
  auto const upper = Count == 2 && d.take("hi");
  if (Count == 2 && !upper && !d.take("lo")) d.fail_unsupported("neither .lo nor .hi");
  handler run = nullptr;
  if (is_signed(a))
    run = is_signed(b) ? for_host<&dot<A_signed, std::int8_t, Count>>()
                       : for_host<&dot<A_signed, std::uint8_t, Count>>();
  else
    run = is_signed(b) ? for_host<&dot<A_unsigned, std::int8_t, Count>>()
                       : for_host<&dot<A_unsigned, std::uint8_t, Count>>();
  d.emit(run, type::b32, {type::b32, type::b32, type::b32}).flags = upper ? 2 : 0;
}

}  // namespace

void add_bits(decode_table& table)
{
  table["and"] = &decode_logic<op_and>;
  table["or"] = &decode_logic<op_or>;
  table["xor"] = &decode_logic<op_xor>;
  table["not"] = &decode_not;
  table["shl"] = &decode_shift<true>;
  table["shr"] = &decode_shift<false>;
  table["shf"] = &decode_funnel;
  table["lop3"] = &decode_lop3;
  table["cnot"] = &decode_same_width<op_is_zero, 2>;
  table["brev"] = &decode_same_width<op_reverse, 4>;
  table["popc"] = &decode_count<op_population>;
  table["clz"] = &decode_count<op_leading_zeros>;
  table["bfind"] = &decode_find;
  table["bfe"] = &decode_extract;
  table["bfi"] = &decode_insert;
  table["bmsk"] = &decode_mask;
  table["szext"] = &decode_extend;
  table["fns"] = &decode_nth_set;
  table["prmt"] = &decode_prmt;
  table["dp4a"] = &decode_dot<4, std::uint8_t, std::int8_t>;
  table["dp2a"] = &decode_dot<2, std::uint16_t, std::int16_t>;
}

}  // namespace fatlink::interpreter
