// SPDX-License-Identifier: Apache-2.0
// The user's folder: entries, the lock, the ledger. Every call opens the folder anew, so that one
// that was removed, replaced or lost by its server is noticed and mends itself.
// All members throw fault; none leaves anything half done.
#pragma once

#include <optional>
#include <string>

#include "cache/entry.hpp"
#include "cache/ledger.hpp"
#include "cache/lock.hpp"

namespace fatlink::cache {

/// The entry of `parts` in `from`, or nothing where there is none that is sound.
std::optional<cached_link> read_entry(folder const& from, std::string const& name,
                                      std::string const& parts, bool mark_used);

class user_layer {
 public:
  user_layer(std::filesystem::path path, std::uint64_t limit)
      : path_(std::move(path)), limit_(limit)
  {
  }

  std::optional<cached_link> find(std::string const& name, std::string const& parts) const;
  /// The right to make the entry `name`, if nobody has it.
  [[nodiscard]] std::optional<lock> claim(std::string const& name) const;
  /// Puts an entry into the folder, after it made room. One larger than the limit is not kept:
  /// false.
  bool store(std::string const& name, std::string const& parts, cached_link const& link) const;

  /// Adds a process's figures to the ledger, where there is a folder.
  void add_figures(figures const& more) const;
  [[nodiscard]] cache_statistics statistics() const;
  [[nodiscard]] cache_verification verify() const;
  [[nodiscard]] cache_cleaning prune() const;
  [[nodiscard]] cache_cleaning clear() const;

 private:
  std::uint64_t make_room(folder const& in, std::uint64_t wanted, figures& now) const;

  std::filesystem::path path_;
  std::uint64_t limit_;
};

}  // namespace fatlink::cache
