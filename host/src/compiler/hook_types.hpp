// SPDX-License-Identifier: Apache-2.0
// The exact types of a contract's hooks, which its ident states. NVRTC compiles the header with a
// function for each hook whose parameter is a pointer to the hook, and the type is read from that
// function's mangled name; the cache keeps the result. Threads: one at a time for each
// compiler_helpers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/compiler_helpers.hpp"
#include "compiler/installed_contract.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/ptx_interface.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

/// What the PTX of that program states.
struct hook_types {
  std::map<std::string, std::string> mangled = {};  ///< "user_transform": "FffE"
  std::vector<ptx_function> declarations = {};      ///< the hooks' widths
};

/// The types that the header of a contract states, which includes files beside it, those of
/// data_include_folders(), and CUDA's.
struct stated_types {
  hook_types types = {};
  std::set<std::string> record = {};  ///< the headers that it looks up (header_files)
};

/// Compiles the header of `contract` with NVRTC, unless the cache has the types. `helpers` holds
/// no helper before and after it.
/// @throws file_error (invalid_contract) the header does not compile, or does not declare a hook as
///   extern "C".
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
