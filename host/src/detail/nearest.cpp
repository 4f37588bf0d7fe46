// SPDX-License-Identifier: Apache-2.0
#include "detail/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace fatlink::detail {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
  // Rows of the table for a[0..i): the one being filled, the one before it, and the one before
  // that.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> previous(row.size());
  std::vector<std::size_t> second(row.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    second.swap(previous);
    previous.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] =
          std::min({previous[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, previous[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], second[j - 1] + 1);
    }
  }
  return row.back();
}

std::string nearest(std::vector<std::string> const& words, std::string_view word)
{
  std::string best;
  auto best_distance = word.size() / 2 + 1;
  for (auto const& other : words) {
    auto const is_prefix =
        !other.empty() && !word.empty() && (other.starts_with(word) || word.starts_with(other));
    auto const distance = is_prefix ? 1 : edit_distance(other, word);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = other;
  }
  return best;
}

}  // namespace fatlink::detail
