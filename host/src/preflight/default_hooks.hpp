// SPDX-License-Identifier: Apache-2.0
// Hooks that a library defines itself, by a weak function that a transform may replace.
// Threads: no shared state.
#pragma once

#include <set>
#include <span>
#include <string>

#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// The hooks of the contract of `module` that it defines by weak functions.
std::set<std::string> weak_hooks(fatbin const& module, entry_choice const& choice);

/// The hooks of `modules` that nothing else fills than the weak definition of one module: its
/// default. Empty if a module's symbols cannot be read (is_opaque), because it may define any.
/// @throws format_error an entry is damaged.
std::set<std::string> default_hooks(std::span<fatbin const> modules, entry_choice const& choice);

}  // namespace fatlink::detail
