// SPDX-License-Identifier: Apache-2.0
// Addresses as operands of instructions that have several: each is computed into a register.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Adds an operation that computes the generic address of [base + offset], an address of `space`.
/// Returns the register of 64 bits that holds it.
/// @throws failure (refused) not an address, or a base of another width.
operand_offset emit_generic_address(decoding& d, syntax::operand const& address, space space);

}  // namespace fatlink::interpreter
