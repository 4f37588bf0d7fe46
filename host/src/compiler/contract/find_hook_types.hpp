// SPDX-License-Identifier: Apache-2.0
// The exact types of a contract's hooks, from the cache or by a compile of the contract's header.
// Threads: one at a time for each compiler_helpers.
#pragma once

#include "compiler/compiler_helpers.hpp"
#include "compiler/contract/contract_hooks.hpp"
#include "compiler/headers/collect_headers.hpp"

namespace fatlink::detail {

/// The header of `contract` as header_request takes it.
forced_header forced_header_of(installed_contract const& contract);

/// The program of hook_probe(), with the headers that the contract's header includes: files beside
/// it, those of data_include_folders(), and CUDA's. @throws file_error as collect_headers.
program find_hook_probe(installed_contract const& contract, compiler_state& state,
                        compiler_helpers& helpers);

/// Compiles `probe` of `contract` with NVRTC, unless the cache has the types. `helpers` holds no
/// helper before and after it.
/// @throws file_error (invalid_contract) the header does not compile, or as read_hook_types.
/// @throws compile_error, unavailable_error as compiler_helpers::compile.
hook_types find_hook_types(installed_contract const& contract, program const& probe,
                           compiler_state& state, compiler_helpers& helpers);

/// Whether a source sees the types that its contract states: macros and folders of its options may
/// change what the contract's header declares.
enum class declaration_state {
  same,
  different,
  unknown  ///< the header does not compile with the options
};

/// Compares `types`, of `probe`, with those that the header declares under `options`. `helpers`
/// holds no helper before it. @throws as find_hook_types, except for invalid_contract.
declaration_state compare_declarations(installed_contract const& contract, program const& probe,
                                       hook_types const& types, compile_options const& options,
                                       compiler_state& state, compiler_helpers& helpers);

}  // namespace fatlink::detail
