// SPDX-License-Identifier: Apache-2.0
// The user's folder: entries, lock and ledger. Every call opens the folder again, so that a folder
// that was removed or replaced, or whose server was unreachable, works again with the next call.
// Every member throws folder_error where the system refuses; no call leaves a file half written.
// Threads: safe; processes exclude each other by the folder's locks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/entry.hpp"
#include "cache/folder.hpp"
#include "cache/ledger.hpp"

namespace fatlink::cache {

/// The link that the file `name` of a folder holds for the key `parts`; empty if there is no valid
/// entry of that key. `mark_used`: sets the time of last use. @throws folder_error others may write
/// to it.
std::optional<cached_link> read_entry(folder const& cache_folder, std::string const& name,
                                      std::string const& parts, bool mark_used);

class user_layer {
 public:
  /// `limit`: bytes of all entries together.
  user_layer(std::filesystem::path path, std::uint64_t limit)
      : path_(std::move(path)), limit_(limit)
  {
  }

  /// The link of the key `parts`, whose entry is the file `name`; empty if there is none.
  [[nodiscard]] std::optional<cached_link> find(std::string const& name,
                                                std::string const& parts) const;
  /// The lock that its owner makes the entry `name` under; empty if another owner has it.
  [[nodiscard]] std::optional<lock> claim(std::string const& name) const;
  /// Stores an entry, after making room for it. Returns false, storing nothing, if the entry is
  /// larger than the limit.
  bool store(std::string const& name, std::string const& parts, cached_link const& link) const;

  /// Adds the figures of a process to the ledger. Does nothing if there is no claimed folder.
  void add_figures(figures const& process_figures) const;
  [[nodiscard]] cache_statistics statistics() const;
  [[nodiscard]] cache_verification verify() const;
  [[nodiscard]] cache_cleaning prune() const;
  [[nodiscard]] cache_cleaning clear() const;

 private:
  std::uint64_t make_room(folder const& cache_folder, std::uint64_t size, figures& ledger) const;

  std::filesystem::path path_;
  std::uint64_t limit_;
};

}  // namespace fatlink::cache
