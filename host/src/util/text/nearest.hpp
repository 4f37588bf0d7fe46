// SPDX-License-Identifier: Apache-2.0
// Finds similar words, for "did you mean" in hints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "util/limits.hpp"

namespace fatlink::detail {

/// The edit distance: the number of insertions, removals, replacements and swaps of neighbours
/// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word in `words` that is most similar to `word`; empty if none shares half of its letters. If
/// one word begins with the other, the distance counts as 1. Bounded like name_search.
std::string nearest(std::vector<std::string> const& words, std::string_view word);

/// Searches many names for similar ones. The work of all searches together is bounded; after that,
/// they find nothing. The names are views, which must outlive the search.
class name_search {
 public:
  enum class prefixes { count_as_1, are_compared };

  /// `work`: cells of edit-distance tables, and names looked at.
  explicit name_search(std::vector<std::string_view> names, prefixes prefix = prefixes::count_as_1,
                       std::size_t work = limits::k_similarity_work);

  /// As nearest().
  std::string_view nearest(std::string_view word);
  /// The first name in alphabetical order that begins with `prefix`; empty where none does. Takes
  /// logarithmic time.
  [[nodiscard]] std::string_view find_prefix(std::string_view prefix) const;
  /// Subtracts `work` from the remaining work; false if less remains.
  bool spend(std::size_t work) noexcept;
  [[nodiscard]] std::size_t work_left() const noexcept { return left_; }

 private:
  std::size_t distance(std::string_view name, std::string_view word, std::size_t below);

  std::vector<std::string_view> names_;
  std::vector<std::string_view> sorted_;
  prefixes prefix_;
  std::size_t left_;
};

}  // namespace fatlink::detail
