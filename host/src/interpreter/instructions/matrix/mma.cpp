// SPDX-License-Identifier: Apache-2.0
// mma.sync. Source: PTX ISA 9.0, "mma".
#include <algorithm>
#include <array>
#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/collective.hpp"
#include "interpreter/instructions/matrix/matrix.hpp"

namespace fatlink::interpreter {
namespace {

// mma.m8n8k4 of f16: four products, each of 8 threads of the warp. Source: PTX ISA 9.0, "Matrix
// Fragments for mma.m8n8k4 with .f16 floating point type".

enum quad_flags : std::uint32_t { k_a_by_rows = 1, k_b_by_rows = 2, k_half_c = 4, k_half_d = 8 };

constexpr unsigned k_quad_size = 8;  // of C and D
constexpr unsigned k_depth = 4;      // of A and B
constexpr unsigned k_inputs = 4;     // elements of A or B in a thread

/// Threads 4·q to 4·q + 3, and those 16 above, compute product q. The latter hold the other half.
unsigned start_of_half(unsigned lane) noexcept
{
  return lane < k_lanes / 2 ? 0 : k_quad_size / 2;
}

matrix_place place_in_a(unsigned lane, unsigned i, bool by_rows) noexcept
{
  if (by_rows) return {lane % 4 + start_of_half(lane), i};
  return {i + start_of_half(lane), lane % 4};
}

matrix_place place_in_b(unsigned lane, unsigned i, bool by_rows) noexcept
{
  if (by_rows) return {lane % 4, i + start_of_half(lane)};
  return {i, lane % 4 + start_of_half(lane)};
}

matrix_place place_in_c(unsigned lane, unsigned i, bool is_half) noexcept
{
  if (is_half) return {lane % 4 + start_of_half(lane), i};
  return {(lane & 1U) + (i & 2U) + start_of_half(lane), (i & 4U) + (lane & 2U) + (i & 1U)};
}

std::uint16_t half_at(warp& w, operand_offset const* list, unsigned lane, unsigned i)
{
  return static_cast<std::uint16_t>(load<std::uint32_t>(w.at(list[i / 2]), lane) >> (i % 2 * 16));
}

struct quad_matrices {
  std::array<std::array<double, k_depth>, k_quad_size> a;
  std::array<std::array<double, k_quad_size>, k_depth> b;
  std::array<std::array<double, k_quad_size>, k_quad_size> sum;
};

/// The registers of D, A, B and C.
struct quad_registers {
  operand_offset const* d;
  operand_offset const* a;
  operand_offset const* b;
  operand_offset const* c;
};

void read_lane(warp& w, quad_registers const& registers, std::uint32_t flags, unsigned lane,
               quad_matrices& numbers)
{
  for (unsigned i = 0; i < k_inputs; ++i) {
    auto const a = place_in_a(lane, i, (flags & k_a_by_rows) != 0);
    numbers.a[a.row][a.column] = real_value<element::f16>(half_at(w, registers.a, lane, i));
    auto const b = place_in_b(lane, i, (flags & k_b_by_rows) != 0);
    numbers.b[b.row][b.column] = real_value<element::f16>(half_at(w, registers.b, lane, i));
  }
  auto const is_half = (flags & k_half_c) != 0;
  for (unsigned i = 0; i < k_quad_size; ++i) {
    auto const c = place_in_c(lane, i, is_half);
    numbers.sum[c.row][c.column] =
        is_half ? real_value<element::f16>(half_at(w, registers.c, lane, i))
                : real_value<element::f32>(load<std::uint32_t>(w.at(registers.c[i]), lane));
  }
}

void write_lane(warp& w, quad_registers const& registers, std::uint32_t flags, unsigned lane,
                quad_matrices const& numbers)
{
  auto const is_half = (flags & k_half_d) != 0;
  std::uint32_t lower = 0;
  for (unsigned i = 0; i < k_quad_size; ++i) {
    auto const place = place_in_c(lane, i, is_half);
    auto const sum = numbers.sum[place.row][place.column];
    auto const bits = static_cast<std::uint32_t>(is_half ? rounded_bits<element::f16>(sum)
                                                         : rounded_bits<element::f32>(sum));
    if (!is_half)
      store(w.at(registers.d[i]), lane, bits);
    else if (i % 2 == 0)
      lower = bits;
    else
      store(w.at(registers.d[i / 2]), lane, lower | bits << 16);
  }
}

void multiply(quad_matrices& numbers)
{
  for (unsigned row = 0; row < k_quad_size; ++row)
    for (unsigned k = 0; k < k_depth; ++k)
      for (unsigned column = 0; column < k_quad_size; ++column)
        numbers.sum[row][column] += numbers.a[row][k] * numbers.b[k][column];
}

void multiply_quads(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const* const d = w.current().code->lists.data() + o.d;
  auto const* const a = d + ((o.flags & k_half_d) != 0 ? k_quad_size / 2 : k_quad_size);
  quad_registers const registers{d, a, a + 2, a + 4};
  std::array<quad_matrices, 4> quads;
  for (unsigned lane = 0; lane < k_lanes; ++lane)
    read_lane(w, registers, o.flags, lane, quads[lane / 4 % 4]);
  for (auto& numbers : quads) multiply(numbers);
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    write_lane(w, registers, o.flags, lane, quads[lane / 4 % 4]);
  }
}

/// Adds the operation. `a_by_rows`, `b_by_rows`: the layouts.
void emit_quad_product(decoding& d, matrix_product const& product, bool a_by_rows, bool b_by_rows)
{
  d.expect_count(4, 4);
  auto const accumulator = [](element type) {
    return fragment{matrix_role::accumulator, type, k_quad_size, k_quad_size,
                    type == element::f16 ? 4U : 8U};
  };
  fragment const input{matrix_role::a, element::f16, k_quad_size, k_depth, 2};
  auto list = fragment_registers(d, d.operand(0), accumulator(product.d), true);
  std::size_t index = 1;
  for (auto const& shape : {input, input, accumulator(product.c)}) {
    auto const sources = fragment_registers(d, d.operand(index++), shape, false);
    list.insert(list.end(), sources.begin(), sources.end());
  }
  auto const first = d.add_list(list);
  auto& o = d.emit(&multiply_quads);
  o.d = first;
  o.flags = k_whole_warp | (a_by_rows ? k_a_by_rows : 0U) | (b_by_rows ? k_b_by_rows : 0U) |
            (product.c == element::f16 ? k_half_c : 0U) |
            (product.d == element::f16 ? k_half_d : 0U);
}

// All shapes.

struct known_shape {
  element type;
  unsigned m, n, k;
};
constexpr std::array k_mma_shapes{
    known_shape{element::f16, 16, 8, 8},   known_shape{element::f16, 16, 8, 16},
    known_shape{element::bf16, 16, 8, 8},  known_shape{element::bf16, 16, 8, 16},
    known_shape{element::tf32, 16, 8, 4},  known_shape{element::tf32, 16, 8, 8},
    known_shape{element::f64, 8, 8, 4},    known_shape{element::f64, 16, 8, 4},
    known_shape{element::f64, 16, 8, 8},   known_shape{element::f64, 16, 8, 16},
    known_shape{element::e4m3, 16, 8, 16}, known_shape{element::e4m3, 16, 8, 32},
    known_shape{element::s8, 8, 8, 16},    known_shape{element::s8, 16, 8, 16},
    known_shape{element::s8, 16, 8, 32},   known_shape{element::s4, 8, 8, 32},
    known_shape{element::s4, 16, 8, 32},   known_shape{element::s4, 16, 8, 64},
    known_shape{element::b1, 8, 8, 128},   known_shape{element::b1, 16, 8, 128},
    known_shape{element::b1, 16, 8, 256},
};

/// Types that may be combined as A and B have the same class.
element class_of(element type) noexcept
{
  switch (type) {
    case element::u8:
      return element::s8;
    case element::u4:
      return element::s4;
    case element::e5m2:
      return element::e4m3;
    default:
      return type;
  }
}

void check(decoding const& d, matrix_product const& p)
{
  auto const type = class_of(p.a);
  auto const is_known =
      std::any_of(k_mma_shapes.begin(), k_mma_shapes.end(), [&](auto const& shape) {
        return shape.type == type && shape.m == p.m && shape.n == p.n && shape.k == p.k;
      });
  if (!is_known || class_of(p.b) != type || p.c != p.d || !can_accumulate(p.a, p.d))
    d.fail_unsupported("not a known shape with these types");
}

void check_quad(decoding const& d, matrix_product const& p, std::string_view a_layout,
                std::string_view b_layout)
{
  auto const widens = p.c == element::f16 && p.d == element::f32;
  if (p.b != element::f16 || (p.c != p.d && !widens) || !can_accumulate(p.a, p.d))
    d.fail_unsupported("not a known shape with these types");
  for (auto const layout : {a_layout, b_layout})
    if (layout != "row" && layout != "col") d.fail_unsupported("no layout");
}

/// The types are D, A, B, C.
void take_mma_types(decoding& d, matrix_product& product)
{
  for (auto* const type : {&product.d, &product.a, &product.b, &product.c}) *type = take_element(d);
}

void decode_mma(decoding& d)
{
  matrix_product product;
  if (d.next_word().starts_with("sp")) d.refuse_feature("sparse matrices");
  if (!d.take("sync")) d.fail_unsupported();
  (void)d.take("aligned");
  take_product_modifiers(d, product);
  if (!parse_shape(d.take_next(), product)) d.fail_unsupported("not a known shape");
  auto const a_layout = d.take_next();
  auto const b_layout = d.take_next();
  take_mma_types(d, product);
  check_product_modifiers(d, product);
  if (product.a == element::f16 && product.m == 8 && product.n == 8 && product.k == 4) {
    check_quad(d, product, a_layout, b_layout);
    return emit_quad_product(d, product, a_layout == "row", b_layout == "row");
  }
  if (a_layout != "row" || b_layout != "col") d.fail_unsupported("layouts but .row.col");
  check(d, product);
  emit_product(d, product);
}

}  // namespace

void add_mma(decode_table& table)
{
  table["mma"] = &decode_mma;
}

}  // namespace fatlink::interpreter
