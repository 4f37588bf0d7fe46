// SPDX-License-Identifier: Apache-2.0
// prmt, dp4a and dp2a: instructions on the bytes of registers.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

void add_bytewise(decode_table& table);

}  // namespace fatlink::interpreter
