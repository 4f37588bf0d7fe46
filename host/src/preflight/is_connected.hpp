// SPDX-License-Identifier: Apache-2.0
// Whether an input has a part in the link. Threads: no shared state.
#pragma once

#include "preflight/rules.hpp"
#include "preflight/symbol_index.hpp"

namespace fatlink::detail {

/// Whether `input` calls a function of another input, or another one its functions.
bool is_connected(symbol_index const& symbols, preflight_input const& input);

}  // namespace fatlink::detail
