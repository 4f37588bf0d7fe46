// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that the device itself has: vprintf, __assertfail, malloc, free.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {

/// Bytes of what a function returns and takes.
struct prototype_sizes {
  std::vector<std::uint64_t> results = {};
  std::vector<std::uint64_t> arguments = {};
};

/// Of the function that the device has.
prototype_sizes builtin_sizes(builtin function);
/// Adds a call of it. The call site is the next of code::calls.
/// @throws failure (prototype) other arguments or results.
void decode_builtin_call(decoding& d, call_site const& site, builtin function);

}  // namespace fatlink::interpreter
