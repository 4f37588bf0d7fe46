// SPDX-License-Identifier: Apache-2.0
// Instructions on single bits and fields. Source: PTX ISA 9.0, "Integer Arithmetic
// Instructions".
#include <algorithm>
#include <bit>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/integers/bytewise.hpp"
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
  add_bytewise(table);
}

}  // namespace fatlink::interpreter
