// SPDX-License-Identifier: Apache-2.0
// The `.approx` instructions. Hardware computes them by table and interpolation, within error
// bounds that the PTX ISA states. Here they are computed in double and rounded once, so results
// differ from the hardware's by at most its own error.
#pragma once

#include <string_view>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes an instruction whose modifier `.approx` is taken already. @throws failure (refused).
void decode_approximation(decoding& d, std::string_view name, type type);
/// div.approx.f32 and div.full.f32, whose modifier is taken already. @throws failure (refused).
void decode_approximate_division(decoding& d, type type);
void decode_full_division(decoding& d, type type);

}  // namespace fatlink::interpreter
