// SPDX-License-Identifier: Apache-2.0
// Float functions that compute in double, which is most often a double literal: 0.5 for 0.5F.
// `fatlink inspect` reports them; a link does not. Threads: no shared state.
#pragma once

#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// A warning (double-arithmetic) for each function that `module` defines for others, that takes or
/// returns a float and no double, and whose PTX converts a float to double and computes with it;
/// one for each name. PTX of more than 16 MiB, and PTX that fatlink cannot execute, is not
/// searched, nor are LTO-IR and cubins, which do not show it.
/// @throws format_error a PTX payload that does not decompress.
std::vector<finding> find_double_arithmetic(fatbin const& module);

}  // namespace fatlink::detail
