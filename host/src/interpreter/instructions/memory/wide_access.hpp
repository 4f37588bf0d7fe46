// SPDX-License-Identifier: Apache-2.0
// Accesses of 128 bits (.b128): ld, st, atom.exch, atom.cas. Each is atomic with respect to the
// others.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// ld and st; the type is not taken yet.
void decode_wide_access(decoding& d, bool stores);
/// atom; `name` is the operation, and all modifiers are taken.
void emit_wide_atomic(decoding& d, std::string_view name, space space);

}  // namespace fatlink::interpreter
