// SPDX-License-Identifier: Apache-2.0
// The identity of a contract: its name, its version and the hooks that it declares, with their
// exact types. The text of its header is not part of it. Threads: no shared state.
#pragma once

#include <string>

#include "fatlink/ident.hpp"

namespace fatlink::detail {

/// "apply_transform/1"
std::string contract_of(ident const& stated);

/// Whether both idents state the same contract. Where one of them lists no hooks (fatlink 0.1 wrote
/// none at first), the digests of the headers are compared instead.
bool same_contract(ident const& a, ident const& b);

/// The first hook, by name, that the two declare differently; empty where one lists no hooks.
std::string differing_hook(ident const& a, ident const& b);

/// "declares float user_transform(float)", or "declares no user_transform".
std::string describe_hook(ident const& stated, std::string const& hook);

/// Whether the contract has this hook; an ident without a list of hooks may have any.
bool may_declare(ident const& stated, std::string const& hook);

}  // namespace fatlink::detail
