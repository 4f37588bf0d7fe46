// SPDX-License-Identifier: Apache-2.0
// The forms of cvt that are not a conversion of one value of a plain type to another: cvt.pack,
// formats of 4, 6 and 8 bits, tf32, .satfinite, stochastic rounding.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Decodes a cvt of one of these forms. False: it is of another form. @throws failure (refused).
bool decode_special_conversion(decoding& d);
/// Decodes a cvt from or to a format of 4, 6 or 8 bits. False: it is of another form.
/// @throws failure (refused).
bool decode_small_conversion(decoding& d);

}  // namespace fatlink::interpreter
