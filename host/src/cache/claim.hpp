// SPDX-License-Identifier: Apache-2.0
// Which program a folder belongs to. The file CACHEDIR.TAG with fatlink's text marks a folder as
// the cache's. Only an empty folder can be claimed, and nothing is written to, renamed in or
// removed from a folder before it is claimed.
// <tag> ::= "Signature: 8a477f597d28d172789f06886806bc55\n" then a comment line
// Source: bford.info/cachedir.
#pragma once

#include "cache/folder.hpp"

namespace fatlink::cache {

constexpr char const* k_tag_file = "CACHEDIR.TAG";

/// Whether the folder is the cache's. @throws fault the tag cannot be read.
bool is_claimed(folder const& cache_folder);

/// Claims an empty folder; does nothing if it is the cache's already.
/// @throws fault the folder holds other files (it stays unchanged), or cannot be written.
void claim(folder const& cache_folder);

/// Whether the folder is the cache's; false if it is empty.
/// @throws fault it holds other files, or cannot be read.
bool holds_cache(folder const& cache_folder);

}  // namespace fatlink::cache
