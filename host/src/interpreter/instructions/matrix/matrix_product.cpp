// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/matrix/matrix_product.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/matrix/whole_warp.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::size_t k_max_operand = 16 * 256;  // elements of A or B
constexpr std::size_t k_max_result = 16 * 16;    // elements of C or D

/// The product in operation::immediate.
std::uint64_t pack_product(matrix_product const& p) noexcept
{
  auto const types = static_cast<std::uint64_t>(p.a) | static_cast<std::uint64_t>(p.b) << 4 |
                     static_cast<std::uint64_t>(p.c) << 8 | static_cast<std::uint64_t>(p.d) << 12;
  auto const kinds = std::uint64_t{p.saturates} | static_cast<std::uint64_t>(p.bits) << 1 |
                     std::uint64_t{p.is_wmma} << 3;
  return p.m | std::uint64_t{p.n} << 8 | std::uint64_t{p.k} << 16 | types << 32 | kinds << 48;
}

matrix_product unpack_product(std::uint64_t word) noexcept
{
  auto const type_at = [word](unsigned bit) { return static_cast<element>(word >> bit & 15U); };
  return {.m = static_cast<unsigned>(word & 0xFFU),
          .n = static_cast<unsigned>(word >> 8 & 0xFFU),
          .k = static_cast<unsigned>(word >> 16 & 0xFFFFU),
          .a = type_at(32),
          .b = type_at(36),
          .c = type_at(40),
          .d = type_at(44),
          .saturates = (word >> 48 & 1U) != 0,
          .bits = static_cast<bit_product>(word >> 49 & 3U),
          .is_wmma = (word >> 51 & 1U) != 0};
}

/// Calls use(place, bits) for each element of a fragment in the registers `list`.
template <typename Use>
void read_fragment(warp& w, operand_offset const* list, fragment const& shape, Use const& use)
{
  auto const bits = bits_of(shape.type);
  auto const mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  auto const is_wide = register_bits(shape.type) == 64;
  for (unsigned number = 0; number < shape.needed_registers(); ++number) {
    auto const* const lanes = w.at(list[number]);
    for (unsigned lane = 0; lane < k_lanes; ++lane) {
      auto const word =
          is_wide ? load<std::uint64_t>(lanes, lane) : load<std::uint32_t>(lanes, lane);
      for (unsigned i = 0; i < shape.packing(); ++i)
        use(shape.place(lane, number, i), word >> (i * bits) & mask);
    }
  }
}

/// Writes the lanes of `mask`; of(place) are the bits of an element.
template <typename Of>
void write_fragment(warp& w, operand_offset const* list, fragment const& shape, lane_mask mask,
                    Of const& of)
{
  auto const bits = bits_of(shape.type);
  for (unsigned number = 0; number < shape.registers; ++number) {
    auto* const lanes = w.at(list[number]);
    for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
      std::uint64_t word = 0;
      for (unsigned i = 0; i < shape.packing(); ++i)
        word |= of(shape.place(lane, number, i)) << (i * bits);
      if (register_bits(shape.type) == 64)
        store(lanes, lane, word);
      else
        store(lanes, lane, static_cast<std::uint32_t>(word));
    }
  }
}

/// The numbers of the matrices, by rows.
template <typename T>
struct matrices {
  T a[k_max_operand];
  T b[k_max_operand];
  T sum[k_max_result];
};

template <typename T, typename Value>
void read_matrices(warp& w, operand_offset const* list, matrix_product const& p, Value const& value,
                   matrices<T>& numbers)
{
  auto const a = fragment_a(p);
  auto const b = fragment_b(p);
  auto const reader = [&](element type, T* target, unsigned columns) {
    return [&value, type, target, columns](matrix_place place, std::uint64_t bits) {
      target[place.row * columns + place.column] = value(type, bits);
    };
  };
  list += fragment_d(p).registers;
  read_fragment(w, list, a, reader(p.a, numbers.a, p.k));
  list += a.registers;
  read_fragment(w, list, b, reader(p.b, numbers.b, p.n));
  list += b.registers;
  read_fragment(w, list, fragment_c(p), reader(p.c, numbers.sum, p.n));
}

/// Adds the products to the sums, in the order of k: add(sum, a, b).
template <typename T, typename Add>
void accumulate(matrix_product const& p, matrices<T>& numbers, Add const& add)
{
  for (unsigned row = 0; row < p.m; ++row)
    for (unsigned k = 0; k < p.k; ++k) {
      auto const a = numbers.a[row * p.k + k];
      auto const* const b = numbers.b + std::size_t{k} * p.n;
      auto* const sum = numbers.sum + std::size_t{row} * p.n;
      for (unsigned column = 0; column < p.n; ++column) add(sum[column], a, b[column]);
    }
}

void multiply_reals(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const p = unpack_product(o.immediate);
  auto const* const list = w.current().code->lists.data() + o.d;
  matrices<double> numbers;
  read_matrices(w, list, p, real_value, numbers);
  if (p.d == element::f64)
    accumulate(p, numbers, [](double& sum, double a, double b) { sum = std::fma(a, b, sum); });
  else
    accumulate(p, numbers, [](double& sum, double a, double b) { sum += a * b; });
  write_fragment(w, list, fragment_d(p), mask, [&](matrix_place place) {
    return rounded_bits(p.d, numbers.sum[place.row * p.n + place.column]);
  });
}

void multiply_integers(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const p = unpack_product(o.immediate);
  auto const* const list = w.current().code->lists.data() + o.d;
  matrices<std::int64_t> numbers;
  auto const value = [](element type, std::uint64_t bits) {
    return type == element::s32 ? static_cast<std::int32_t>(bits) : whole_value(type, bits);
  };
  read_matrices(w, list, p, value, numbers);
  using number = std::int64_t;
  if (p.a != element::b1)
    accumulate(p, numbers, [](number& sum, number a, number b) { sum += a * b; });
  else if (p.bits == bit_product::conjunction)
    accumulate(p, numbers, [](number& sum, number a, number b) { sum += a & b; });
  else
    accumulate(p, numbers, [](number& sum, number a, number b) { sum += a ^ b; });
  using limits = std::numeric_limits<std::int32_t>;
  write_fragment(w, list, fragment_d(p), mask, [&](matrix_place place) {
    auto sum = numbers.sum[place.row * p.n + place.column];
    if (p.saturates) sum = std::clamp<number>(sum, limits::min(), limits::max());
    return std::uint64_t{static_cast<std::uint32_t>(sum)};
  });
}

fragment operand_fragment(matrix_product const& p, matrix_role role, element type, unsigned rows,
                          unsigned columns) noexcept
{
  constexpr unsigned k_wmma_halves = 8;
  auto shape = make_fragment(role, type, rows, columns);
  if (p.is_wmma && type == element::f16) shape.registers = k_wmma_halves;
  return shape;
}

}  // namespace

fragment fragment_a(matrix_product const& p) noexcept
{
  return operand_fragment(p, matrix_role::a, p.a, p.m, p.k);
}

fragment fragment_b(matrix_product const& p) noexcept
{
  return operand_fragment(p, matrix_role::b, p.b, p.k, p.n);
}

fragment fragment_c(matrix_product const& p) noexcept
{
  return make_fragment(matrix_role::accumulator, p.c, p.m, p.n);
}

fragment fragment_d(matrix_product const& p) noexcept
{
  return make_fragment(matrix_role::accumulator, p.d, p.m, p.n);
}

std::vector<operand_offset> fragment_registers(decoding& d, syntax::operand const& operand,
                                               fragment const& shape, bool writes)
{
  auto const parts = elements_of(operand);
  if (parts.size() != shape.registers)
    d.reject("a matrix of " + std::to_string(shape.registers) + " registers is stated with " +
             std::to_string(parts.size()));
  auto const type = register_bits(shape.type) == 64 ? type::b64 : type::b32;
  std::vector<operand_offset> registers;
  for (auto const& part : parts)
    registers.push_back(writes ? d.destination(part, type) : d.source(part, type));
  return registers;
}

void take_product_modifiers(decoding& d, matrix_product& product)
{
  product.saturates = d.take("satfinite");
  if (!d.take("popc")) return;
  auto const is_exclusive = d.take("xor");
  if (!is_exclusive && !d.take("and")) d.refuse(".popc without .xor or .and");
  product.bits = is_exclusive ? bit_product::exclusive_or : bit_product::conjunction;
}

element take_element(decoding& d)
{
  auto const word = d.take_next();
  auto const type = parse_element(word);
  if (!type) d.refuse(std::string(word) + " is not a known type of elements");
  return *type;
}

bool can_accumulate(element input, element type) noexcept
{
  switch (input) {
    case element::f16:
    case element::e4m3:
    case element::e5m2:
      return type == element::f16 || type == element::f32;
    case element::bf16:
    case element::tf32:
      return type == element::f32;
    case element::f64:
      return type == element::f64;
    default:
      return is_whole(input) && type == element::s32;
  }
}

void check_product_modifiers(decoding const& d, matrix_product const& product)
{
  auto const is_bits = product.a == element::b1;
  if (product.saturates && (is_bits || !is_whole(product.a)))
    d.refuse(".satfinite is of s8, u8, s4 and u4 only");
  if (is_bits != (product.bits != bit_product::none))
    d.refuse(".xor.popc and .and.popc are of b1, which needs one of them");
}

void emit_product(decoding& d, matrix_product const& product)
{
  d.expect_count(4, 4);
  auto list = fragment_registers(d, d.operand(0), fragment_d(product), true);
  std::size_t index = 1;
  for (auto const& shape : {fragment_a(product), fragment_b(product), fragment_c(product)}) {
    auto const sources = fragment_registers(d, d.operand(index++), shape, false);
    list.insert(list.end(), sources.begin(), sources.end());
  }
  auto const first = d.add_list(list);
  auto& o = d.emit(is_whole(product.a) ? &multiply_integers : &multiply_reals);
  o.d = first;
  o.immediate = pack_product(product);
  o.flags = k_whole_warp;
}

bool parse_shape(std::string_view word, matrix_product& product) noexcept
{
  auto const* next = word.data();
  auto const* const end = next + word.size();
  for (auto const& [letter, size] :
       {std::pair{'m', &product.m}, std::pair{'n', &product.n}, std::pair{'k', &product.k}}) {
    if (next == end || *next != letter) return false;
    auto const parsed = std::from_chars(next + 1, end, *size);
    if (parsed.ec != std::errc{}) return false;
    next = parsed.ptr;
  }
  return next == end;
}

}  // namespace fatlink::interpreter
