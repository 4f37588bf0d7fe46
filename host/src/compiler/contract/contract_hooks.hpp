// SPDX-License-Identifier: Apache-2.0
// The exact types of a contract's hooks, which its ident states: NVRTC compiles the header with a
// function for each hook whose parameter is a pointer to the hook, and the type is read from that
// function's mangled name. Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/contract/installed_contract.hpp"
#include "fatlink/ptx_interface.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// The program whose PTX states the types of the hooks of `contract`. `options`: of NVRTC, which
/// include the header of the contract.
program hook_probe(installed_contract const& contract, std::vector<std::string> const& options);

/// What the PTX of hook_probe() states.
struct hook_types {
  std::map<std::string, std::string> mangled = {};  ///< "user_transform": "FffE"
  std::vector<ptx_function> declarations = {};      ///< the hooks' widths
};

/// @throws file_error (invalid_contract) the header does not declare a hook as extern "C".
hook_types read_hook_types(std::string_view ptx, installed_contract const& contract);

}  // namespace fatlink::detail
