// SPDX-License-Identifier: Apache-2.0
// The variable argument lists that calls pass.
#pragma once

#include "interpreter/decode/link_modules.hpp"

namespace fatlink::interpreter {

/// Measures the variable argument lists of all calls: linked_modules::variadic_bytes. A call by
/// address may call any function.
void measure_variadic_calls(linked_modules& modules);

}  // namespace fatlink::interpreter
