// SPDX-License-Identifier: Apache-2.0
// Instructions on single bits, fields and bytes. Source: PTX ISA 9.0, "Integer Arithmetic
// Instructions".
#include <algorithm>
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/integer_ops.hpp"

namespace fatlink::interpreter {
namespace {

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

void decode_prmt(decoding& d)
{
  static constexpr std::pair<std::string_view, permute_mode> k_modes[] = {
      {"f4e", permute_mode::f4e}, {"b4e", permute_mode::b4e}, {"rc8", permute_mode::rc8},
      {"ecl", permute_mode::ecl}, {"ecr", permute_mode::ecr}, {"rc16", permute_mode::rc16}};
  auto selected = permute_mode::index;
  for (auto const& [word, mode] : k_modes)
    if (d.take(word)) selected = mode;
  if (d.take_type() != type::b32) d.refuse();
  d.emit(for_host<&prmt>(), type::b32, {type::b32, type::b32, type::b32}).flags =
      static_cast<std::uint32_t>(selected);
}

template <unsigned Count, typename A_unsigned, typename A_signed>
void decode_dot(decoding& d)
{
  auto const b = d.take_type();
  auto const a = d.take_type();
  auto const is_32_bits = [](type type) { return type == type::u32 || type == type::s32; };
  if (!is_32_bits(a) || !is_32_bits(b)) d.refuse();
  auto const upper = Count == 2 && d.take("hi");
  if (Count == 2 && !upper && !d.take("lo")) d.refuse("neither .lo nor .hi");
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
  table["cnot"] = &decode_same_width<op_is_zero, 2>;
  table["brev"] = &decode_same_width<op_reverse, 4>;
  table["popc"] = &decode_count<op_population>;
  table["clz"] = &decode_count<op_leading_zeros>;
  table["bfind"] = &decode_find;
  table["bfe"] = &decode_extract;
  table["bfi"] = &decode_insert;
  table["prmt"] = &decode_prmt;
  table["dp4a"] = &decode_dot<4, std::uint8_t, std::int8_t>;
  table["dp2a"] = &decode_dot<2, std::uint16_t, std::int16_t>;
}

}  // namespace fatlink::interpreter
