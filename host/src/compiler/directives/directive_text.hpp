// SPDX-License-Identifier: Apache-2.0
// The letters and words of preprocessor directives. Threads: no shared state.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fatlink::detail {

constexpr std::string_view k_has_include = "__has_include";
constexpr std::string_view k_blank = " \t\f\v\r";  ///< within a line

/// Of the names of macros.
constexpr std::string_view k_word =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

/// Whether it is one of k_word.
inline bool is_word_letter(char letter)
{
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

inline bool is_decimal(char letter)
{
  return letter >= '0' && letter <= '9';
}

/// Of the names of headers, where these may also be other text.
inline bool is_header_letter(char letter)
{
  return is_word_letter(letter) || std::string_view("/.-+").find(letter) != std::string_view::npos;
}

/// Whether `text` may be the name of a header.
inline bool may_be_header(std::string_view text)
{
  return std::ranges::all_of(text, is_header_letter);
}

/// Whether it is likely to be one, though none was found.
inline bool is_header_name(std::string_view text)
{
  return text.ends_with(".h") || text.ends_with(".cuh") || text.ends_with(".hpp");
}

/// `text` without the byte order mark of UTF-8, which NVRTC does not accept.
inline std::string_view without_mark(std::string_view text)
{
  constexpr std::string_view k_mark = "\xEF\xBB\xBF";
  return text.starts_with(k_mark) ? text.substr(k_mark.size()) : text;
}

/// `text` without blanks at its ends.
inline std::string_view trimmed(std::string_view text)
{
  auto const first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

}  // namespace fatlink::detail
