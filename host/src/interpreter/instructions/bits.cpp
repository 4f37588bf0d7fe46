// SPDX-License-Identifier: Apache-2.0
// Instructions on single bits, fields and bytes. Source: PTX ISA 9.0, "Integer Arithmetic
// Instructions".
#include <algorithm>
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"

namespace fatlink::interpreter {
namespace {

template <typename T>
constexpr unsigned k_bits = 8 * sizeof(T);

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

/// Operations on the bits of 16, 32 or 64; the result as wide, or 32 bits.
template <typename Op>
void decode_same_width(decoding& d)
{
  auto const as = d.take_type();
  d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &unary<T, T, Op>; }), as,
         {as});
}

template <typename Op>
void decode_count(decoding& d)
{
  auto const as = d.take_type();
  if (size_of(as) < 4) d.refuse();
  auto const run = for_bits(d, size_of(as),
                            []<typename T>() -> handler { return &unary<std::uint32_t, T, Op>; });
  d.emit(run, type::u32, {as});
}

void decode_find(decoding& d)
{
  auto const as = d.take_type();
  auto const amount = d.take("shiftamt");
  auto const run = for_integer(d, as, [&]<typename T>() -> handler {
    return amount ? &unary<std::uint32_t, T, op_find<true>>
                  : &unary<std::uint32_t, T, op_find<false>>;
  });
  d.emit(run, type::u32, {as});
}

void decode_extract(decoding& d)
{
  auto const as = d.take_type();
  d.emit(for_integer(d, as, []<typename T>() -> handler { return &extract<T>; }), as,
         {as, type::u32, type::u32});
}

void decode_insert(decoding& d)
{
  auto const as = d.take_type();
  d.emit(for_bits(d, size_of(as), []<typename T>() -> handler { return &insert<T>; }), as,
         {as, as, type::u32, type::u32});
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
  d.emit(&prmt, type::b32, {type::b32, type::b32, type::b32}).flags =
      static_cast<std::uint32_t>(found);
}

template <unsigned Count, typename A_unsigned, typename A_signed>
void decode_dot(decoding& d)
{
  auto const b = d.take_type();
  auto const a = d.take_type();
  auto const upper = d.take("hi");
  (void)d.take("lo");
  handler run = nullptr;
  if (is_signed(a))
    run = is_signed(b) ? &dot<A_signed, std::int8_t, Count> : &dot<A_signed, std::uint8_t, Count>;
  else
    run =
        is_signed(b) ? &dot<A_unsigned, std::int8_t, Count> : &dot<A_unsigned, std::uint8_t, Count>;
  d.emit(run, type::b32, {type::b32, type::b32, type::b32}).flags = upper ? 2 : 0;
}

}  // namespace

void add_bits(decode_table& to)
{
  to["cnot"] = &decode_same_width<op_is_zero>;
  to["brev"] = &decode_same_width<op_reverse>;
  to["popc"] = &decode_count<op_population>;
  to["clz"] = &decode_count<op_leading_zeros>;
  to["bfind"] = &decode_find;
  to["bfe"] = &decode_extract;
  to["bfi"] = &decode_insert;
  to["prmt"] = &decode_prmt;
  to["dp4a"] = &decode_dot<4, std::uint8_t, std::int8_t>;
  to["dp2a"] = &decode_dot<2, std::uint16_t, std::int16_t>;
}

}  // namespace fatlink::interpreter
