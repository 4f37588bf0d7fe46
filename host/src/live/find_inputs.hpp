// SPDX-License-Identifier: Apache-2.0
// The inputs of a swap by name or file. Threads: safe.
#pragma once

#include <string>
#include <vector>

#include "fatlink/input.hpp"

namespace fatlink::detail {

/// Inputs that were read, and how long it took.
struct read_inputs {
  std::vector<input> inputs = {};
  double ms = 0;
};

/// @throws as input::find.
[[nodiscard]] read_inputs find_inputs(std::vector<std::string> const& names);

}  // namespace fatlink::detail
