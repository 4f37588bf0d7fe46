// SPDX-License-Identifier: Apache-2.0
#include "detail/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace fatlink::detail {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      auto const substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string nearest(std::vector<std::string> const& words, std::string_view word)
{
  std::string best;
  auto best_distance = word.size() / 2 + 1;
  for (auto const& other : words) {
    auto const distance = edit_distance(other, word);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = other;
  }
  return best;
}

}  // namespace fatlink::detail
