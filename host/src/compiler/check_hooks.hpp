// SPDX-License-Identifier: Apache-2.0
// Whether a compiled source fills or calls the hooks of its contract. Threads: no shared state.
#pragma once

#include "compiler/compile_messages.hpp"
#include "compiler/contract_hooks.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

/// @throws compile_error (missing-hook) `code` neither defines nor calls a hook of the contract:
/// the
///   hint names a similar function, the C++ name of the hook, or the declaration;
///   (signature-mismatch) it defines one with another type, which only LLVM IR can.
void check_hooks(fatbin const& code, compile_subject const& subject, hook_types const& types);

}  // namespace fatlink::detail
