// SPDX-License-Identifier: Apache-2.0
// What ld, st, atom and red have in common: the state space, the memory order and the address.
// Source: PTX ISA 9.0, "Data Movement and Conversion Instructions", "atom", "red".
#pragma once

#include <vector>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

enum class memory_order { weak, relaxed, acquire, release };

/// Takes relaxed, acquire or release; weak if there is none.
memory_order take_order(decoding& d);
/// Takes the scope of a memory order (cta, gpu, …). Every scope is treated as .sys.
void take_scope(decoding& d);
/// Takes the state space; space::generic if there is none.
space take_space(decoding& d);

/// An address that is computed at run time: the register or constant `base` plus `offset`.
struct computed_address {
  operand_offset base = k_no_operand;  ///< k_no_operand: an absolute address
  std::uint64_t offset = 0;
  unsigned width = 8;  ///< bytes of `base`: 4 only in shared memory; widened in others
};

/// Decodes the address [base + offset] of an access to `space`.
/// @throws failure (refused) not an address, or a base of another width.
computed_address decode_address(decoding& d, syntax::operand const& address, space space);

/// The elements of a vector {…}; another operand is its only element.
std::vector<syntax::operand> elements_of(syntax::operand const& operand);
/// Takes .v2, .v4 or .v8. Returns the number of elements, 1 unless stated.
unsigned take_element_count(decoding& d);

}  // namespace fatlink::interpreter
