// SPDX-License-Identifier: Apache-2.0
// printf and assert of device code, as nvcc calls them: vprintf(format, arguments), where the
// arguments are packed like C's variadic arguments, each aligned to its size; __assertfail(message,
// file, line, function, character size).
#pragma once

#include <cstddef>

#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// Bytes of a text that device code prints, of a conversion and of a call: as CUDA's buffer.
constexpr std::size_t k_max_text = std::size_t{1} << 20;

/// @throws failure (address) a pointer argument is not a valid address.
void device_printf(warp& w, call_site const& site, unsigned lane, operation const& op);
/// @throws failure (trap) always.
[[noreturn]] void device_assert(warp& w, call_site const& site, unsigned lane, operation const& op);

}  // namespace fatlink::interpreter
