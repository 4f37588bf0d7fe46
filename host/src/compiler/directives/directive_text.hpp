// SPDX-License-Identifier: Apache-2.0
// Parts of the text of preprocessor directives. Threads: no shared state.
#pragma once

#include <cctype>
#include <string_view>

namespace fatlink::detail {

constexpr std::string_view k_has_include = "__has_include";
constexpr std::string_view k_blank = " \t\f\v\r";  ///< within a line

/// Of the names of macros.
inline bool is_word_letter(char letter)
{
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// `text` without blanks at its ends.
inline std::string_view trimmed(std::string_view text)
{
  auto const first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

}  // namespace fatlink::detail
