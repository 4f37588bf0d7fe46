// SPDX-License-Identifier: Apache-2.0
// What is wrong with a use of the macros of <fatlink/typed_hooks.cuh>, for hints. They define the
// hooks of the contracts of algorithms. Threads: no shared state.
#pragma once

#include <string>
#include <string_view>

#include "compiler/contract/installed_contract.hpp"

namespace fatlink::detail {

/// Of a compile that failed: a macro in `log` that does not exist, or defines a hook of another
/// contract; or the contract for the size of the type. `contract`: null for none. Empty where the
/// log has no macro, or nothing is known to be wrong with it.
std::string macro_hint(std::string_view log, installed_contract const* contract);

/// "keep is a hook of keep_4 and keep_store_4: pass a library with one of them"; empty where
/// `function` is no hook that a macro defines, or `contract` has it.
std::string other_contract_hint(std::string_view function, installed_contract const& contract);

/// "FATLINK_COMBINE(type, a, b) { … }", which defines `hook` of `contract`; empty where no macro
/// does.
std::string macro_of(std::string_view hook, installed_contract const& contract);

}  // namespace fatlink::detail
