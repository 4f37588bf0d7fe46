// SPDX-License-Identifier: Apache-2.0
// Instructions on surfaces that share their names with others or with files.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

void decode_formatted_store(decoding& d);    ///< sust.p
void decode_surface_reduction(decoding& d);  ///< sured

}  // namespace fatlink::interpreter
