// SPDX-License-Identifier: Apache-2.0
// add, min and max of pairs of 16-bit integers; min and max with .relu.
#pragma once

#include <string_view>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes an add, min or max of .u16x2 or .s16x2, or a min or max of .s32 with .relu. False: it is
/// of another form. @throws failure (refused).
bool decode_packed_integers(decoding& d, std::string_view name);

}  // namespace fatlink::interpreter
