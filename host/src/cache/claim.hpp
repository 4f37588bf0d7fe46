// SPDX-License-Identifier: Apache-2.0
// Whose a folder is. Nothing is written to, renamed in or removed from a folder before it is
// claimed: only an empty one can be. The file CACHEDIR.TAG with fatlink's text states the claim.
#pragma once

#include "cache/folder.hpp"

namespace fatlink::cache {

constexpr char const* k_tag_file = "CACHEDIR.TAG";

/// Whether `in` has been claimed. @throws fault
bool is_claimed(folder const& in);

/// Claims `in` where it is empty. @throws fault it holds anything that is not the cache's, which
/// stays as it is.
void claim(folder const& in);

/// Whether `in` has been claimed; false where it is empty. @throws fault as claim().
bool holds_cache(folder const& in);

}  // namespace fatlink::cache
