// SPDX-License-Identifier: Apache-2.0
// Archives of which a link takes nothing. Threads: no shared state.
#pragma once

#include <span>
#include <vector>

#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// unused-input: a warning for each archive of `inputs` that gave none of `modules`, which
/// select_modules() selected of them.
std::vector<finding> unused_archives(std::span<input const> inputs,
                                     std::span<fatbin const> modules);

}  // namespace fatlink::detail
