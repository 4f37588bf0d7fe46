// SPDX-License-Identifier: Apache-2.0
// Which files of a cache folder are entries, which are left over from processes that died, and
// which entries are removed first. Called while the ledger's lock is held. All functions throw
// fault.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/folder.hpp"

namespace fatlink::cache {

/// Whether `name` is the name of an entry: 64 hexadecimal digits.
bool is_entry_name(std::string const& name);

/// All regular files. An entry whose time of last use is in the future, written while a clock was
/// wrong, gets the current time; otherwise it would be evicted last.
std::vector<file_facts> list_files(folder const& cache_folder);

/// The entries among `files`, the least recently used first.
std::vector<file_facts> entries_by_age(std::vector<file_facts> files);

/// The bytes of all `entries`.
std::uint64_t total_size(std::vector<file_facts> const& entries);

/// Removes the temporary files of processes that died; returns how many.
std::uint64_t remove_orphans(folder const& cache_folder, std::vector<file_facts> const& files);

/// The result of evict().
struct eviction {
  std::uint64_t bytes_left = 0;
  std::uint64_t evicted = 0;  ///< entries removed
};

/// Removes the first of `entries` until at most `limit` bytes are left. Keeps entries that were
/// used after they were listed.
eviction evict(folder const& cache_folder, std::vector<file_facts> const& entries,
               std::uint64_t limit);

}  // namespace fatlink::cache
