// SPDX-License-Identifier: Apache-2.0
// abs and neg of f32 and f64.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes an abs, or a neg if `negate`, whose type is taken already.
void decode_float_sign(decoding& d, bool negate, type type);

}  // namespace fatlink::interpreter
