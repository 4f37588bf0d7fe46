// SPDX-License-Identifier: Apache-2.0
// Whether LLVM IR, as text or bitcode, defines and calls the hooks of a contract with its types,
// which PTX does not state. libNVVM compiles the source together with a module that calls (or
// defines) each hook with the contract's types, and without optimization: a call between functions
// of one type names the function, any other one goes by its address (observed with 13.0 and 13.5).
// Threads: no shared state.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/contract/contract_hooks.hpp"
#include "fatlink/target.hpp"

namespace fatlink::detail {

enum class ir_agreement {
  same,       ///< of each hook that the source defines or calls
  different,  ///< of a hook whose parameters are all numbers
  unknown     ///< pointers to other types, classes, narrow integers; or a called hook's address is
              ///< taken
};

/// What the source defines and calls, by its PTX `module`, and for which target.
struct ir_subject {
  program const& source;
  ptx_interface const& module;
  target architecture = {};
};

/// The program whose PTX states it; empty: a type is not known. A program without headers: the
/// source has none of the hooks.
std::optional<program> ir_type_probe(ir_subject const& subject, hook_types const& types);

/// Reads the PTX of the probe. `own_ptx`: of the source alone.
ir_agreement read_ir_agreement(std::string_view ptx, std::string_view own_ptx,
                               ir_subject const& subject, hook_types const& types);

}  // namespace fatlink::detail
