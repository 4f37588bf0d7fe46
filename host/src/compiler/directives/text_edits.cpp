// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/text_edits.hpp"

#include <algorithm>

namespace fatlink::detail {

std::string edited(std::string_view text, std::vector<text_edit> edits)
{
  std::ranges::sort(edits, {}, [](text_edit const& edit) { return edit.range.offset; });
  std::string result;
  std::size_t copied = 0;
  for (auto const& [range, replacement] : edits) {
    if (range.offset < copied) continue;
    result.append(text.substr(copied, range.offset - copied)).append(replacement);
    auto const lines = std::ranges::count(text.substr(range.offset, range.size), '\n');
    for (auto i = lines; i > 0; --i) result += "\\\n";
    copied = range.offset + range.size;
  }
  return result.append(text.substr(copied));
}

}  // namespace fatlink::detail
