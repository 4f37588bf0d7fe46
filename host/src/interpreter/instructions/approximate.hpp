// SPDX-License-Identifier: Apache-2.0
// The `.approx` instructions. Hardware computes them by table and interpolation, within bounds
// that the PTX ISA states; here they are computed in double and rounded once, so they differ
// from hardware by at most its own error: that is what makes results differ in ULP.
#pragma once

#include <string_view>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// `.approx` is already taken. @throws failure (refused).
void decode_approximation(decoding& d, std::string_view name, type as);

}  // namespace fatlink::interpreter
