// SPDX-License-Identifier: Apache-2.0
// add, sub and fma of f32 with operands of 16 bits.
#pragma once

#include <string_view>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes `name`.f32.`type` (f16, bf16), whose types are taken already. @throws failure (refused).
void decode_mixed_arithmetic(decoding& d, std::string_view name, type type);

}  // namespace fatlink::interpreter
