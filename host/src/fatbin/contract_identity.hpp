// SPDX-License-Identifier: Apache-2.0
// The identity of a contract: its name, its version, and its hooks with their exact types. The text
// of its header is not part of it. Threads: no shared state.
#pragma once

#include <optional>
#include <string>

#include "fatlink/ident.hpp"

namespace fatlink::detail {

/// "apply_transform/1"
std::string contract_of(ident const& stated);

/// Whether there is an ident, and it states a contract: one of digests only states none.
bool states_contract(std::optional<ident> const& stated);

/// Whether both idents state the same contract. If one of them lists no hooks (early versions of
/// fatlink 0.1 wrote none), compares the digests of the headers instead.
bool same_contract(ident const& a, ident const& b);

/// The first hook, by name, that the two declare differently; empty if one lists no hooks.
std::string differing_hook(ident const& a, ident const& b);

/// "declares float user_transform(float)", or "declares no user_transform".
std::string describe_hook(ident const& stated, std::string const& hook);

/// Whether the contract has this hook; true for an ident without a list of hooks.
bool may_declare(ident const& stated, std::string const& hook);

}  // namespace fatlink::detail
