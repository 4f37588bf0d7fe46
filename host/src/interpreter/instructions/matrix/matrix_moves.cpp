// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements. Source: PTX ISA 9.0.
#include <array>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/control/collective.hpp"
#include "interpreter/instructions/matrix/matrix.hpp"
#include "interpreter/instructions/memory/memory_operand.hpp"

namespace fatlink::interpreter {
namespace {

constexpr unsigned k_square_size = 8;
constexpr unsigned k_row_bytes = 16;
constexpr std::uint32_t k_transposes = 1;

using square = std::array<std::array<std::uint16_t, k_square_size>, k_square_size>;

/// The elements of a lane: row lane / 4, or that column of the transposed matrix.
std::uint32_t pair_of_lane(square const& matrix, unsigned lane, bool transposes) noexcept
{
  auto const row = lane / 4;
  auto const column = lane % 4 * 2;
  auto const first = transposes ? matrix[column][row] : matrix[row][column];
  auto const second = transposes ? matrix[column + 1][row] : matrix[row][column + 1];
  return first | std::uint32_t{second} << 16;
}

/// The matrix of which each lane has a pair in `lanes`.
square gathered(std::byte const* lanes, bool transposes) noexcept
{
  square result;
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    auto const pair = load<std::uint32_t>(lanes, lane);
    auto const row = lane / 4;
    auto const column = lane % 4 * 2;
    for (unsigned i = 0; i < 2; ++i) {
      auto const element = static_cast<std::uint16_t>(pair >> (16 * i));
      (transposes ? result[column + i][row] : result[row][column + i]) = element;
    }
  }
  return result;
}

/// The lane that states the address of row `row` of matrix `number`.
unsigned lane_of(unsigned number, unsigned row) noexcept
{
  return number * k_square_size + row;
}

/// The host address of a row. Also a generic address must be one of shared memory.
std::byte* resolve_row(warp& w, operation const& o, std::uint64_t address, unsigned lane,
                       bool writes)
{
  return w.resolve_shared(address - k_shared_window, k_row_bytes, lane, o, writes);
}

/// a: the addresses; d: the list of registers, one for each matrix; immediate: their number.
void load_matrices(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const* const list = w.current().code->lists.data() + o.d;
  std::array<square, 4> matrices;
  auto const* const addresses = w.at(o.a);
  for (unsigned number = 0; number < o.immediate; ++number)
    for (unsigned row = 0; row < k_square_size; ++row) {
      auto const lane = lane_of(number, row);
      auto const* const source =
          resolve_row(w, o, load<std::uint64_t>(addresses, lane), lane, false);
      if (w.checks_accesses()) w.record_read(source, k_row_bytes, lane, o);
      std::memcpy(matrices[number][row].data(), source, k_row_bytes);
    }
  auto const transposes = (o.flags & k_transposes) != 0;
  for (unsigned number = 0; number < o.immediate; ++number) {
    auto* const lanes = w.at(list[number]);
    each_lane(mask,
              [&](unsigned i) { store(lanes, i, pair_of_lane(matrices[number], i, transposes)); });
  }
}

void store_matrices(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const* const list = w.current().code->lists.data() + o.d;
  for (unsigned number = 0; number < o.immediate; ++number) {
    auto const matrix = gathered(w.at(list[number]), (o.flags & k_transposes) != 0);
    for (unsigned row = 0; row < k_square_size; ++row) {
      auto const lane = lane_of(number, row);
      auto* const target = resolve_row(w, o, load<std::uint64_t>(w.at(o.a), lane), lane, true);
      if (w.checks_accesses()) w.record_write(target, k_row_bytes, lane, o);
      std::memcpy(target, matrix[row].data(), k_row_bytes);
    }
  }
}

void transpose(warp& w, operation const& o, lane_mask mask)
{
  if (!meet_whole_warp(w, o, mask)) return;
  auto const matrix = gathered(w.at(o.a), false);
  auto* const d = w.at(o.d);
  each_lane(mask, [&](unsigned i) { store(d, i, pair_of_lane(matrix, i, true)); });
}

void decode_matrices(decoding& d, bool stores)
{
  auto const is_known =
      d.take_type() == type::b16 && d.take("sync") && d.take("aligned") && d.take("m8n8");
  if (!is_known) d.fail_unsupported("only 8 x 8 matrices of b16 are");
  auto const count = d.take("x1") ? 1U : d.take("x2") ? 2U : 4U;
  if (count == 4 && !d.take("x4")) d.fail_unsupported();
  auto const transposes = d.take("trans");
  auto const space = take_space(d);
  d.expect_count(2, 2);
  fragment const shape{matrix_role::a, element::f16, k_square_size, k_square_size * count, count};
  auto const address = emit_generic_address(d, d.operand(stores ? 0 : 1), space);
  auto const list = d.add_list(fragment_registers(d, d.operand(stores ? 1 : 0), shape, !stores));
  auto& o = d.emit(stores ? &store_matrices : &load_matrices);
  o.a = address;
  o.d = list;
  o.immediate = count;
  o.flags = k_whole_warp | (transposes ? k_transposes : 0U);
}

void decode_ldmatrix(decoding& d)
{
  decode_matrices(d, false);
}

void decode_stmatrix(decoding& d)
{
  decode_matrices(d, true);
}

void decode_movmatrix(decoding& d)
{
  auto const is_known = d.take_type() == type::b16 && d.take("sync") && d.take("aligned") &&
                        d.take("m8n8") && d.take("trans");
  if (!is_known) d.fail_unsupported();
  auto& o = d.emit(&transpose, type::b32, {type::b32});
  o.flags = k_whole_warp;
}

}  // namespace

void add_matrix_moves(decode_table& table)
{
  table["ldmatrix"] = &decode_ldmatrix;
  table["stmatrix"] = &decode_stmatrix;
  table["movmatrix"] = &decode_movmatrix;
}

}  // namespace fatlink::interpreter
