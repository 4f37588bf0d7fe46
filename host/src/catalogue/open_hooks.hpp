// SPDX-License-Identifier: Apache-2.0
// Hooks of a library that the transforms of a check leave to others. Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// Makes a missing hook of the library, the first of `inputs`, a warning if a transform defines
/// another of its hooks, and none defines something that may be meant to be this one. Not the
/// finding that counts what is not listed, which names no symbol.
void allow_open_hooks(std::vector<finding>& findings, std::vector<fatbin> const& inputs);

}  // namespace fatlink::detail
