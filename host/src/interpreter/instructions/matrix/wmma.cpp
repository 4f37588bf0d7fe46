// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.store and wmma.mma. PTX leaves open which thread has which element; here it is as
// for mma (matrix.hpp). Source: PTX ISA 9.0, "wmma".
#include <algorithm>
#include <array>
#include <bit>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/collective.hpp"
#include "interpreter/instructions/matrix/matrix.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_by_rows = 1;  // flags of loads and stores

std::uint64_t pack_fragment(fragment const& shape) noexcept
{
  return static_cast<std::uint64_t>(shape.role) | static_cast<std::uint64_t>(shape.type) << 8 |
         std::uint64_t{shape.rows} << 16 | std::uint64_t{shape.columns} << 32 |
         std::uint64_t{shape.registers} << 48;
}

fragment unpack_fragment(std::uint64_t word) noexcept
{
  return {static_cast<matrix_role>(word & 0xFFU), static_cast<element>(word >> 8 & 0xFFU),
          static_cast<unsigned>(word >> 16 & 0xFFFFU), static_cast<unsigned>(word >> 32 & 0xFFFFU),
          static_cast<unsigned>(word >> 48)};
}

/// Where the elements of a matrix are in memory.
struct matrix_memory {
  std::uint64_t base = 0;
  std::uint64_t stride = 0;  ///< elements from one row (or column) to the next
  bool by_rows = false;
  unsigned bits = 0;  ///< of an element

  [[nodiscard]] std::uint64_t address(matrix_place place) const noexcept
  {
    auto const line = by_rows ? place.row : place.column;
    auto const index = by_rows ? place.column : place.row;
    return base + (line * stride + index) * bits / 8;
  }
};

template <typename T>
T load_at(warp& w, operation const& o, unsigned lane, std::uint64_t address)
{
  auto const* const source = w.resolve(address, sizeof(T), lane, o, false);
  if (w.checks_accesses()) w.record_read(source, sizeof(T), lane, o);
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

/// The bits of one element, or of a whole register of elements smaller than a byte, which lie next
/// to each other in memory.
std::uint64_t load_bits(warp& w, operation const& o, unsigned lane, std::uint64_t address,
                        unsigned bits)
{
  switch (bits) {
    case 8:
      return load_at<std::uint8_t>(w, o, lane, address);
    case 16:
      return load_at<std::uint16_t>(w, o, lane, address);
    case 64:
      return load_at<std::uint64_t>(w, o, lane, address);
    default:
      return load_at<std::uint32_t>(w, o, lane, address);
  }
}

std::uint64_t load_register(warp& w, operation const& o, unsigned lane, unsigned number,
                            fragment const& shape, matrix_memory const& memory)
{
  if (memory.bits < 8)
    return load_bits(w, o, lane, memory.address(shape.place(lane, number, 0)), 32);
  std::uint64_t word = 0;
  for (unsigned i = 0; i < shape.packing(); ++i)
    word |= load_bits(w, o, lane, memory.address(shape.place(lane, number, i)), memory.bits)
            << (i * memory.bits);
  return word;
}

matrix_memory memory_of(warp& w, operation const& o, unsigned lane, fragment const& shape)
{
  return {load<std::uint64_t>(w.at(o.a), lane), load<std::uint32_t>(w.at(o.b), lane),
          (o.flags & k_by_rows) != 0, bits_of(shape.type)};
}

/// Calls use(lane, number, shape, memory, lanes) for each register of each lane; `lanes` are those
/// of the register. a: the address; b: the stride; d: the list of registers; immediate: the
/// fragment.
template <typename Use>
void each_register(warp& w, operation const& o, lane_mask mask, Use const& use)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const shape = unpack_fragment(o.immediate);
  auto const* const list = w.current().code->lists.data() + o.d;
  for (auto remaining = mask; remaining != 0; remaining &= remaining - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(remaining));
    auto const memory = memory_of(w, o, lane, shape);
    for (unsigned number = 0; number < shape.registers; ++number)
      use(lane, number, shape, memory, w.at(list[number]));
  }
}

void load_fragment(warp& w, operation const& o, lane_mask mask)
{
  each_register(w, o, mask,
                [&](unsigned lane, unsigned number, fragment const& shape,
                    matrix_memory const& memory, std::byte* lanes) {
                  auto const word = load_register(w, o, lane, number, shape, memory);
                  if (register_bits(shape.type) == 64)
                    store(lanes, lane, word);
                  else
                    store(lanes, lane, static_cast<std::uint32_t>(word));
                });
}

template <typename T>
void store_at(warp& w, operation const& o, unsigned lane, std::uint64_t address, std::uint64_t bits)
{
  auto* const target = w.resolve(address, sizeof(T), lane, o, true);
  if (w.checks_accesses()) w.record_write(target, sizeof(T), lane, o);
  auto const value = static_cast<T>(bits);
  std::memcpy(target, &value, sizeof(T));
}

void store_fragment(warp& w, operation const& o, lane_mask mask)
{
  each_register(w, o, mask,
                [&](unsigned lane, unsigned number, fragment const& shape,
                    matrix_memory const& memory, std::byte const* lanes) {
                  auto const is_wide = register_bits(shape.type) == 64;
                  auto const word =
                      is_wide ? load<std::uint64_t>(lanes, lane) : load<std::uint32_t>(lanes, lane);
                  for (unsigned i = 0; i < shape.packing(); ++i) {
                    auto const address = memory.address(shape.place(lane, number, i));
                    if (memory.bits == 16)
                      store_at<std::uint16_t>(w, o, lane, address, word >> (i * 16));
                    if (memory.bits == 32) store_at<std::uint32_t>(w, o, lane, address, word);
                    if (memory.bits == 64) store_at<std::uint64_t>(w, o, lane, address, word);
                  }
                });
}

struct wmma_shape {
  unsigned m, n, k;
  std::array<element, 4> inputs;  // the first repeats where there are fewer
};
constexpr auto k_wmma_shapes = [] {
  using enum element;
  return std::array{
      wmma_shape{16, 16, 16, {f16, bf16, s8, u8}}, wmma_shape{32, 8, 16, {f16, bf16, s8, u8}},
      wmma_shape{8, 32, 16, {f16, bf16, s8, u8}},  wmma_shape{16, 16, 8, {tf32, tf32, tf32, tf32}},
      wmma_shape{8, 8, 4, {f64, f64, f64, f64}},   wmma_shape{8, 8, 32, {s4, u4, s4, u4}},
      wmma_shape{8, 8, 128, {b1, b1, b1, b1}},
  };
}();

void take_wmma_shape(decoding& d, matrix_product& product)
{
  product.is_wmma = true;
  if (!parse_shape(d.take_next(), product)) d.fail_unsupported("not a known shape");
}

/// Whether `holds` of a type of A and B in the shape of `p`.
template <typename Predicate>
bool any_input(matrix_product const& p, Predicate const& holds)
{
  return std::any_of(k_wmma_shapes.begin(), k_wmma_shapes.end(), [&](wmma_shape const& shape) {
    return shape.m == p.m && shape.n == p.n && shape.k == p.k &&
           std::any_of(shape.inputs.begin(), shape.inputs.end(), holds);
  });
}

bool is_input(element type, matrix_product const& p)
{
  return any_input(p, [=](element input) { return input == type; });
}

bool is_accumulator(element type, matrix_product const& p)
{
  return any_input(p, [=](element input) { return can_accumulate(input, type); });
}

fragment fragment_of(decoding const& d, matrix_product product, char matrix, element type)
{
  auto const is_result = matrix == 'c' || matrix == 'd';
  if (!(is_result ? is_accumulator(type, product) : is_input(type, product)))
    d.fail_unsupported("not a known shape with this type");
  product.a = product.b = product.c = type;
  return matrix == 'a'   ? fragment_a(product)
         : matrix == 'b' ? fragment_b(product)
                         : fragment_c(product);
}

/// .a.sync.aligned.row.m16n16k16.shared.f16, of a load or a store.
void decode_transfer(decoding& d, bool stores)
{
  auto const matrix = d.take_next();
  auto const is_known = stores ? matrix == "d" : matrix == "a" || matrix == "b" || matrix == "c";
  if (!is_known || !d.take("sync")) d.fail_unsupported();
  (void)d.take("aligned");
  auto const by_rows = d.take("row");
  if (!by_rows && !d.take("col")) d.fail_unsupported("no layout");
  matrix_product product;
  take_wmma_shape(d, product);
  auto const space = take_space(d);
  auto const shape = fragment_of(d, product, matrix.front(), take_element(d));
  if (bits_of(shape.type) < 8 && by_rows != (matrix == "a")) d.reject("the layout is not .row.col");
  d.expect_count(2, 3);
  auto const line = by_rows ? shape.columns : shape.rows;
  auto const stride = d.count() == 3 ? d.source(2, type::b32) : d.constant(line, 4);
  auto const address = emit_generic_address(d, d.operand(stores ? 0 : 1), space);
  auto const registers = fragment_registers(d, d.operand(stores ? 1 : 0), shape, !stores);
  auto const list = d.add_list(registers);
  auto& o = d.emit(stores ? &store_fragment : &load_fragment);
  o.a = address;
  o.b = stride;
  o.d = list;
  o.immediate = pack_fragment(shape);
  o.flags = k_whole_warp | (by_rows ? k_by_rows : 0U);
}

/// Products of f16 state D and C only; the others state D, A, B, C.
void take_wmma_types(decoding& d, matrix_product& product)
{
  product.d = take_element(d);
  product.a = product.b = element::f16;
  product.c = take_element(d);
  if (!d.has_words()) return;
  product.a = product.c;
  product.b = take_element(d);
  product.c = take_element(d);
  if (product.a == element::f16) d.fail_unsupported("not a known shape with these types");
}

/// A and B have one type, and so have C and D, but of f16. As ptxas takes them for sm_75 to sm_90.
bool has_valid_types(matrix_product const& p)
{
  return p.a == p.b && is_input(p.a, p) && can_accumulate(p.a, p.c) && can_accumulate(p.a, p.d);
}

/// Whether the layouts are .row.col.
bool take_layouts(decoding& d)
{
  auto const a = d.take_next();
  auto const b = d.take_next();
  for (auto const layout : {a, b})
    if (layout != "row" && layout != "col") d.fail_unsupported("no layout");
  return a == "row" && b == "col";
}

void decode_product(decoding& d)
{
  matrix_product product;
  take_product_modifiers(d, product);
  if (!d.take("sync")) d.fail_unsupported();
  (void)d.take("aligned");
  auto const has_rounding = d.take("rn");
  auto const is_row_col = take_layouts(d);
  take_wmma_shape(d, product);
  take_wmma_types(d, product);
  if (!has_valid_types(product)) d.fail_unsupported("not a known shape with these types");
  check_product_modifiers(d, product);
  if (has_rounding && product.a != element::f64) d.fail_unsupported(".rn is valid only for f64");
  if (bits_of(product.a) < 8 && !is_row_col) d.reject("the layout is not .row.col");
  emit_product(d, product);
}

void decode_wmma(decoding& d)
{
  if (d.take("load")) return decode_transfer(d, false);
  if (d.take("store")) return decode_transfer(d, true);
  if (!d.take("mma")) d.fail_unsupported();
  decode_product(d);
}

}  // namespace

void add_wmma(decode_table& table)
{
  table["wmma"] = &decode_wmma;
}

}  // namespace fatlink::interpreter
