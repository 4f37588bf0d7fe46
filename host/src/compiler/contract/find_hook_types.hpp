// SPDX-License-Identifier: Apache-2.0
// The exact types of a contract's hooks, from the cache or by a compile of the contract's header.
// Threads: one at a time for each compiler_helpers.
#pragma once

#include <set>
#include <string>

#include "compiler/compiler_helpers.hpp"
#include "compiler/contract/contract_hooks.hpp"
#include "fatlink/compiler.hpp"

namespace fatlink::detail {

/// The types that the header of a contract states, which includes files beside it, those of
/// data_include_folders(), and CUDA's.
struct stated_types {
  hook_types types = {};
  std::set<std::string> record = {};  ///< the headers that it looks up (header_files)
};

/// Compiles hook_probe() of `contract` with NVRTC, unless the cache has the types. `helpers` holds
/// no helper before and after it.
/// @throws file_error (invalid_contract) the header does not compile, or as read_hook_types.
/// @throws compile_error, unavailable_error as compiler_helpers::compile.
stated_types find_hook_types(installed_contract const& contract, compiler_state& state,
                             compiler_helpers& helpers);

/// Whether a source sees the types that its contract states: macros and folders of its options may
/// change what the contract's header declares.
enum class declaration_state {
  same,
  different,
  unknown  ///< the header does not compile with the options
};

/// Compares `stated` with what the header declares under `options`. Adds the headers that it looks
/// up to `record`. `helpers` holds no helper before it.
/// @throws as find_hook_types, except for invalid_contract.
declaration_state compare_declarations(installed_contract const& contract,
                                       stated_types const& stated, compile_options const& options,
                                       compiler_state& state, compiler_helpers& helpers,
                                       std::set<std::string>& record);

}  // namespace fatlink::detail
