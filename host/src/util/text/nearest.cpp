// SPDX-License-Identifier: Apache-2.0
#include "util/text/nearest.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fatlink::detail {
namespace {

constexpr std::size_t k_far = std::numeric_limits<std::size_t>::max() / 2;

/// The edit distance if it is less than `below`, else any number that is not. Fills only the cells
/// of the table that can lead to such a distance: those at most `below` away from the diagonal.
std::size_t banded_distance(std::string_view a, std::string_view b, std::size_t below)
{
  // Rows of the table for a[0..i): the one being filled, the one before it, and the one before
  // that.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> previous(row.size(), k_far);
  std::vector<std::size_t> next_row(row.size(), k_far);
  for (std::size_t i = 0; i < a.size(); ++i) {
    next_row.swap(previous);
    previous.swap(row);
    auto const begin = i >= below ? i - below : 0;
    auto const end = std::min(b.size(), i + below + 1);
    row[begin] = begin == 0 ? i + 1 : k_far;
    auto smallest = row[begin];
    for (auto j = begin; j < end; ++j) {
      row[j + 1] =
          std::min({previous[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, previous[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], next_row[j - 1] + 1);
      smallest = std::min(smallest, row[j + 1]);
    }
    if (end < b.size()) row[end + 1] = k_far;
    // A swap skips one row, so the next may be less by 1.
    if (smallest > below) return k_far;
  }
  return row.back();
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b)
{
  return banded_distance(a, b, a.size() + b.size() + 1);
}

std::string nearest(std::vector<std::string> const& words, std::string_view word)
{
  return std::string(
      name_search(std::vector<std::string_view>(words.begin(), words.end())).nearest(word));
}

name_search::name_search(std::vector<std::string_view> names, prefixes prefix, std::size_t work)
    : names_(std::move(names)), sorted_(names_), prefix_(prefix), left_(work)
{
  std::sort(sorted_.begin(), sorted_.end());
}

std::string_view name_search::nearest(std::string_view word)
{
  std::string_view best;
  auto best_distance = word.size() / 2 + 1;
  for (auto const name : names_) {
    if (!spend(1)) break;
    auto const value = distance(name, word, best_distance);
    if (value >= best_distance) continue;
    best_distance = value;
    best = name;
  }
  return best;
}

std::string_view name_search::find_prefix(std::string_view prefix) const
{
  auto const name = std::lower_bound(sorted_.begin(), sorted_.end(), prefix);
  return name != sorted_.end() && name->starts_with(prefix) ? *name : std::string_view{};
}

bool name_search::spend(std::size_t work) noexcept
{
  if (work > left_) return false;
  left_ -= work;
  return true;
}

/// Fills no table for two words whose lengths differ by `below` or more.
std::size_t name_search::distance(std::string_view name, std::string_view word, std::size_t below)
{
  if (prefix_ == prefixes::count_as_1 && !name.empty() && !word.empty() &&
      (name.starts_with(word) || word.starts_with(name)))
    return 1;
  auto const difference = std::max(name.size(), word.size()) - std::min(name.size(), word.size());
  if (difference >= below) return below;
  auto const width = std::min(word.size(), 2 * below + 1);
  if (!spend(name.size() * width + word.size())) return below;
  return banded_distance(name, word, below);
}

}  // namespace fatlink::detail
