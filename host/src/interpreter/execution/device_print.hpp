// SPDX-License-Identifier: Apache-2.0
// printf and assert of device code, as nvcc calls them: vprintf(format, arguments) with the
// arguments packed as C's variadic ones, each aligned to its size; __assertfail(message, file,
// line, function, size of a character).
#pragma once

#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// @throws failure (address) a pointer among the arguments leads nowhere.
void device_printf(warp& w, call_site const& site, unsigned lane, operation const& op);
/// @throws failure (trap), always.
[[noreturn]] void device_assert(warp& w, call_site const& site, unsigned lane, operation const& op);

}  // namespace fatlink::interpreter
