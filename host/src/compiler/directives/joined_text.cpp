// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/joined_text.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

/// The size of the line end at the backslash `text` begins with; 0: there is none.
std::size_t joint_size(std::string_view text)
{
  if (text.starts_with("\\\n")) return 2;
  return text.starts_with("\\\r\n") ? 3 : 0;
}

}  // namespace

joined_text::joined_text(std::string_view text) : text_(text)
{
  std::size_t copied = 0;
  for (auto place = text.find('\\'); place != std::string_view::npos;
       place = text.find('\\', place)) {
    auto const size = joint_size(text.substr(place, 3));
    if (size == 0) {
      ++place;
      continue;
    }
    copy_.append(text, copied, place - copied);
    place += size;
    copied = place;
    if (removals_.empty() || removals_.back().position != copy_.size())
      removals_.push_back({.position = copy_.size()});
    removals_.back().total = copied - copy_.size();
  }
  if (copied > 0) copy_.append(text, copied);
}

std::size_t joined_text::offset_of(std::size_t position) const
{
  auto const next = std::ranges::upper_bound(removals_, position, {}, &removal::position);
  return position + (next == removals_.begin() ? 0 : std::prev(next)->total);
}

text_range joined_text::range_of(std::size_t position, std::size_t size) const
{
  auto const first = offset_of(position);
  return {first, offset_of(position + size - 1) + 1 - first};
}

}  // namespace fatlink::detail
