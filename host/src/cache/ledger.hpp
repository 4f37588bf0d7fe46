// SPDX-License-Identifier: Apache-2.0
// The ledger: the statistics of a cache folder and the total size of its entries, in the file
// `ledger`. ledger.cpp states the format. Read and written while the ledger's lock is held. A
// missing or damaged ledger counts as empty; the entries are then counted again.
#pragma once

#include <cstdint>
#include <string>

#include "cache/folder.hpp"

namespace fatlink::cache {

/// What the ledger holds.
struct figures {
  bool counted = false;         ///< `bytes` is known; otherwise the entries must be counted
  std::uint64_t bytes = 0;      ///< of all entries: the last count, plus what was stored since
  std::uint64_t hits = 0;       ///< links served
  std::uint64_t misses = 0;     ///< links made
  std::uint64_t stored = 0;     ///< entries written
  std::uint64_t evicted = 0;    ///< entries removed to make room
  std::uint64_t faults = 0;     ///< cache problems
  std::string last_fault = {};  ///< at most 1024 bytes; empty: none
};

/// Reads the ledger; default figures if it is missing or damaged. @throws folder_error
figures read_ledger(folder const& cache_folder);
/// Writes the ledger. @throws folder_error
void write_ledger(folder const& cache_folder, figures const& figures);

/// Which program a folder belongs to. The file CACHEDIR.TAG with fatlink's text marks a folder as
/// the cache's. Only an empty folder can be claimed, and nothing is written to, renamed in or
/// removed from a folder before it is claimed.
/// <tag> ::= "Signature: 8a477f597d28d172789f06886806bc55\n" then a comment line
/// Source: bford.info/cachedir.
constexpr char const* k_tag_file = "CACHEDIR.TAG";

/// Whether the folder is the cache's. @throws folder_error the tag cannot be read.
bool is_claimed(folder const& cache_folder);

/// Claims an empty folder; does nothing if it is the cache's already.
/// @throws folder_error the folder holds other files (it stays unchanged), or cannot be written.
void claim(folder const& cache_folder);

/// Whether the folder is the cache's; false if it is empty.
/// @throws folder_error it holds other files, or cannot be read.
bool holds_cache(folder const& cache_folder);

}  // namespace fatlink::cache
