// SPDX-License-Identifier: Apache-2.0
// min and max of floating-point numbers with .xorsign.abs or of three inputs.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes such a min or `max`, whose type is taken already. False: it is of another form.
/// @throws failure (refused).
bool decode_special_extreme(decoding& d, bool max, type type);

}  // namespace fatlink::interpreter
