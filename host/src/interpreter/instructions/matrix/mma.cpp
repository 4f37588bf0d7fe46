// SPDX-License-Identifier: Apache-2.0
// mma.sync. Source: PTX ISA 9.0, "mma".
#include <algorithm>
#include <array>

#include "interpreter/instructions/matrix/matrix_product.hpp"
#include "interpreter/instructions/matrix/quad_product.hpp"

namespace fatlink::interpreter {
namespace {

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
    d.refuse("not a known shape with these types");
}

void check_quad(decoding const& d, matrix_product const& p, std::string_view a_layout,
                std::string_view b_layout)
{
  auto const widens = p.c == element::f16 && p.d == element::f32;
  if (p.b != element::f16 || (p.c != p.d && !widens) || !can_accumulate(p.a, p.d))
    d.refuse("not a known shape with these types");
  for (auto const layout : {a_layout, b_layout})
    if (layout != "row" && layout != "col") d.refuse("no layout");
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
  if (!d.take("sync")) d.refuse();
  (void)d.take("aligned");
  take_product_modifiers(d, product);
  if (!parse_shape(d.take_next(), product)) d.refuse("not a known shape");
  auto const a_layout = d.take_next();
  auto const b_layout = d.take_next();
  take_mma_types(d, product);
  check_product_modifiers(d, product);
  if (product.a == element::f16 && product.m == 8 && product.n == 8 && product.k == 4) {
    check_quad(d, product, a_layout, b_layout);
    return emit_quad_product(d, product, a_layout == "row", b_layout == "row");
  }
  if (a_layout != "row" || b_layout != "col") d.refuse("layouts but .row.col");
  check(d, product);
  emit_product(d, product);
}

}  // namespace

void add_mma(decode_table& table)
{
  table["mma"] = &decode_mma;
}

}  // namespace fatlink::interpreter
