// SPDX-License-Identifier: Apache-2.0
#include "util/text/shell_word.hpp"

namespace fatlink::detail {

std::string shell_word(std::string_view text)
{
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:@,";
  if (!text.empty() && text.find_first_not_of(k_plain) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (auto const letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

}  // namespace fatlink::detail
