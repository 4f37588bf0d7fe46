// SPDX-License-Identifier: Apache-2.0
// "Did you mean": how unlike two words are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "util/limits.hpp"

namespace fatlink::detail {

/// How many letters must be inserted, removed or replaced, or neighbours swapped (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The one of `words` most like `word`; empty where none shares half of its letters. Of two words
/// where one begins with the other, the distance counts as 1. Bounded as name_search.
std::string nearest(std::vector<std::string> const& words, std::string_view word);

/// Searches many names for those most like given ones. All searches together do bounded work: once
/// it is spent, nothing is found. The names are views, which must outlive the search.
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
  /// Takes `work` from what is left; false where less is left.
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
