// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/matrix/matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/collective.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

/// "f16" → element::f16; nullopt for any other word.
std::optional<element> parse_element(std::string_view word) noexcept
{
  constexpr std::array<std::string_view, 13> k_words{
      // in the order of the enumeration
      "f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "f32", "s32"};
  for (std::size_t i = 0; i < k_words.size(); ++i)
    if (k_words[i] == word) return static_cast<element>(i);
  return {};
}

}  // namespace

matrix_place fragment::place(unsigned lane, unsigned number, unsigned index) const noexcept
{
  constexpr unsigned k_tile = 8;
  auto const g = lane / 4;
  auto const t = lane % 4;
  if (role == matrix_role::accumulator) {
    auto const element = number * packing() + index;
    auto const tile = element / 2;
    return {tile % (rows / k_tile) * k_tile + g,
            tile / (rows / k_tile) * k_tile + 2 * t + element % 2};
  }
  auto const depth = 4 * packing();  // of a tile, along K
  auto const along = t * packing() + index;
  auto const tile = number % needed_registers();
  if (role == matrix_role::a)
    return {tile % (rows / k_tile) * k_tile + g, tile / (rows / k_tile) * depth + along};
  return {tile % (rows / depth) * depth + along, tile / (rows / depth) * k_tile + g};
}

fragment make_fragment(matrix_role role, element type, unsigned rows, unsigned columns) noexcept
{
  fragment result{role, type, rows, columns, 0};
  result.registers = result.needed_registers();
  return result;
}

namespace {

constexpr std::size_t k_max_operand = 16 * 64;  // numbers of A or B
constexpr std::size_t k_max_words = 16 * 8;     // words of bits of A or B
constexpr std::size_t k_max_result = 16 * 16;   // numbers of C or D
constexpr unsigned k_bits_of_word = 32;
/// Products that cost the host about as much as another instruction.
constexpr unsigned k_products_an_instruction = 16;

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

/// Calls body with the type as a constant.
template <typename Body>
void with_type(element type, Body const& body)
{
  using enum element;
  switch (type) {
    case f16:
      return body.template operator()<f16>();
    case bf16:
      return body.template operator()<bf16>();
    case tf32:
      return body.template operator()<tf32>();
    case f64:
      return body.template operator()<f64>();
    case e4m3:
      return body.template operator()<e4m3>();
    case e5m2:
      return body.template operator()<e5m2>();
    case f32:
      return body.template operator()<f32>();
    case s8:
      return body.template operator()<s8>();
    case u8:
      return body.template operator()<u8>();
    case s4:
      return body.template operator()<s4>();
    case u4:
      return body.template operator()<u4>();
    default:
      return body.template operator()<s32>();
  }
}

template <element Type>
using register_of = std::conditional_t<register_bits(Type) == 64, std::uint64_t, std::uint32_t>;

/// Where the first element of a register of lane 4·g + t is, if `first` is that of lane 0.
matrix_place place_of_lane(fragment const& shape, matrix_place first, unsigned lane) noexcept
{
  auto const g = lane / 4;
  auto const t = lane % 4;
  if (shape.role == matrix_role::b) return {first.row + t * shape.packing(), first.column + g};
  auto const elements = shape.role == matrix_role::a ? shape.packing() : 2;
  return {first.row + g, first.column + t * elements};
}

/// Reads the matrix of `shape`, by rows, from the registers `list`: value(bits) of each element.
template <element Type, typename T, typename Value>
void read_matrix(warp& w, operand_offset const* list, fragment const& shape, Value const& value,
                 T* matrix)
{
  constexpr auto k_bits = bits_of(Type);
  constexpr auto k_packing = register_bits(Type) / k_bits;
  constexpr auto k_mask = ~std::uint64_t{0} >> (64 - k_bits);
  auto const step = shape.role == matrix_role::b ? shape.columns : 1;
  for (unsigned number = 0; number < shape.needed_registers(); ++number) {
    auto const* const lanes = w.at(list[number]);
    auto const first = shape.place(0, number, 0);
    for (unsigned lane = 0; lane < k_lanes; ++lane) {
      auto const place = place_of_lane(shape, first, lane);
      auto const word = std::uint64_t{load<register_of<Type>>(lanes, lane)};
      auto* const elements = matrix + std::size_t{place.row} * shape.columns + place.column;
      for (unsigned i = 0; i < k_packing; ++i)
        elements[i * step] = value(word >> (i * k_bits) & k_mask);
    }
  }
}

/// Writes the lanes of `mask`; bits(number) are those of an element.
template <element Type, typename T, typename Bits>
void write_matrix(warp& w, operand_offset const* list, fragment const& shape, lane_mask mask,
                  Bits const& bits, T const* matrix)
{
  constexpr auto k_packing = register_bits(Type) / bits_of(Type);
  for (unsigned number = 0; number < shape.registers; ++number) {
    auto* const lanes = w.at(list[number]);
    auto const first = shape.place(0, number, 0);
    each_lane(mask, [&](unsigned lane) {
      auto const place = place_of_lane(shape, first, lane);
      auto const* const elements = matrix + std::size_t{place.row} * shape.columns + place.column;
      std::uint64_t word = 0;
      for (unsigned i = 0; i < k_packing; ++i) word |= bits(elements[i]) << (i * bits_of(Type));
      store(lanes, lane, static_cast<register_of<Type>>(word));
    });
  }
}

/// The registers of D, A, B and C, which follow each other.
struct product_registers {
  operand_offset const* d;
  operand_offset const* a;
  operand_offset const* b;
  operand_offset const* c;
};

product_registers registers_of(warp const& w, operation const& o, matrix_product const& p)
{
  auto const* const d = w.current().code->lists.data() + o.d;
  auto const* const a = d + fragment_d(p).registers;
  auto const* const b = a + fragment_a(p).registers;
  return {d, a, b, b + fragment_b(p).registers};
}

/// Adds the products of a row of A and a column of B to each sum, in the order of k:
/// add(sum, a, b). `N`: columns of B.
template <unsigned N, typename T, typename Sum, typename Add>
void accumulate(unsigned rows, unsigned depth, T const* a, T const* b, Sum* sums, Add const& add)
{
  for (unsigned row = 0; row < rows; ++row) {
    Sum row_sums[N];
    std::copy_n(sums + std::size_t{row} * N, N, row_sums);
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < N; ++column)
        add(row_sums[column], a[row * depth + k], b[std::size_t{k} * N + column]);
    std::copy_n(row_sums, N, sums + std::size_t{row} * N);
  }
}

template <typename T, typename Sum, typename Add>
void accumulate(matrix_product const& p, unsigned depth, T const* a, T const* b, Sum* sums,
                Add const& add)
{
  if (p.n == 8) return accumulate<8>(p.m, depth, a, b, sums, add);
  if (p.n == 16) return accumulate<16>(p.m, depth, a, b, sums, add);
  accumulate<32>(p.m, depth, a, b, sums, add);
}

void read_reals(warp& w, operand_offset const* list, fragment const& shape, double* matrix)
{
  with_type(shape.type,
            [&]<element Type>() { read_matrix<Type>(w, list, shape, real_value<Type>, matrix); });
}

void multiply_reals(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const p = unpack_product(o.immediate);
  auto const registers = registers_of(w, o, p);
  double a[k_max_operand];
  double b[k_max_operand];
  double sums[k_max_result];
  read_reals(w, registers.a, fragment_a(p), a);
  read_reals(w, registers.b, fragment_b(p), b);
  read_reals(w, registers.c, fragment_c(p), sums);
  if (p.d == element::f64)
    accumulate(p, p.k, a, b, sums, [](double& sum, double x, double y) { sum = fused(x, y, sum); });
  else
    accumulate(p, p.k, a, b, sums, [](double& sum, double x, double y) { sum += x * y; });
  with_type(p.d, [&]<element Type>() {
    write_matrix<Type>(w, registers.d, fragment_d(p), mask, rounded_bits<Type>, sums);
  });
  w.charge(p.m * p.n * p.k / k_products_an_instruction);
}

/// `sums`: of products only, which do not overflow.
void write_integers(warp& w, operand_offset const* list, matrix_product const& p, lane_mask mask,
                    std::int32_t const* c, std::int32_t const* sums)
{
  using limits = std::numeric_limits<std::int32_t>;
  std::int64_t results[k_max_result];
  for (unsigned i = 0; i < p.m * p.n; ++i) results[i] = std::int64_t{c[i]} + sums[i];
  auto const bits = [&](std::int64_t sum) {
    if (p.saturates) sum = std::clamp<std::int64_t>(sum, limits::min(), limits::max());
    return std::uint64_t{static_cast<std::uint32_t>(sum)};
  };
  write_matrix<element::s32>(w, list, fragment_d(p), mask, bits, results);
}

void read_integers(warp& w, operand_offset const* list, fragment const& shape, std::int32_t* matrix)
{
  with_type(shape.type,
            [&]<element Type>() { read_matrix<Type>(w, list, shape, whole_value<Type>, matrix); });
}

void multiply_integers(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const p = unpack_product(o.immediate);
  auto const registers = registers_of(w, o, p);
  std::int32_t a[k_max_operand];
  std::int32_t b[k_max_operand];
  std::int32_t c[k_max_result];
  std::int32_t sums[k_max_result] = {};
  read_integers(w, registers.a, fragment_a(p), a);
  read_integers(w, registers.b, fragment_b(p), b);
  read_integers(w, registers.c, fragment_c(p), c);
  accumulate(p, p.k, a, b, sums,
             [](std::int32_t& sum, std::int32_t x, std::int32_t y) { sum += x * y; });
  write_integers(w, registers.d, p, mask, c, sums);
  w.charge(p.m * p.n * p.k / k_products_an_instruction);
}

/// Matrices of bits: a register is an element of 32 bits along K.
void multiply_bits(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const p = unpack_product(o.immediate);
  auto const registers = registers_of(w, o, p);
  auto const depth = p.k / k_bits_of_word;
  std::int32_t a[k_max_words];
  std::int32_t b[k_max_words];
  std::int32_t c[k_max_result];
  std::int32_t sums[k_max_result] = {};
  read_integers(w, registers.a, make_fragment(matrix_role::a, element::s32, p.m, depth), a);
  read_integers(w, registers.b, make_fragment(matrix_role::b, element::s32, depth, p.n), b);
  read_integers(w, registers.c, fragment_c(p), c);
  auto const ones = [](std::int32_t bits) {
    return std::popcount(static_cast<std::uint32_t>(bits));
  };
  if (p.bits == bit_product::conjunction)
    accumulate(p, depth, a, b, sums, [&](auto& sum, auto x, auto y) { sum += ones(x & y); });
  else
    accumulate(p, depth, a, b, sums, [&](auto& sum, auto x, auto y) { sum += ones(x ^ y); });
  write_integers(w, registers.d, p, mask, c, sums);
  w.charge(p.m * p.n * depth / k_products_an_instruction);
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
  if (!is_exclusive && !d.take("and")) d.fail_unsupported(".popc without .xor or .and");
  product.bits = is_exclusive ? bit_product::exclusive_or : bit_product::conjunction;
}

element take_element(decoding& d)
{
  auto const word = d.take_next();
  auto const type = parse_element(word);
  if (!type) d.fail_unsupported(std::string(word) + " is not a known type of elements");
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
    d.fail_unsupported(".satfinite is valid only for s8, u8, s4 and u4");
  if (is_bits != (product.bits != bit_product::none))
    d.fail_unsupported(".xor.popc and .and.popc are valid only for b1, which requires one of them");
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
  auto& o = d.emit(!is_whole(product.a)       ? for_host<&multiply_reals>()
                   : product.a == element::b1 ? for_host<&multiply_bits>()
                                              : for_host<&multiply_integers>());
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
