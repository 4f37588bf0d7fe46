// SPDX-License-Identifier: Apache-2.0
// Calls of malloc and free. nvcc compiles new, delete and virtual destructors to them.
#pragma once

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// The call site is the next of code::calls. @throws failure (prototype) other arguments.
void decode_malloc(decoding& d, call_site const& site);
void decode_free(decoding& d, call_site const& site);

}  // namespace fatlink::interpreter
