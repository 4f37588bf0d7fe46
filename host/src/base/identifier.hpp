// SPDX-License-Identifier: Apache-2.0
// Names of hooks, arguments, fields and sizes.
#pragma once

#include <algorithm>
#include <string_view>

namespace fatlink::detail {

/// Whether `text` consists of ASCII letters, digits and "_", and does not begin with a digit.
inline bool is_identifier(std::string_view text) noexcept
{
  constexpr auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  constexpr auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !is_digit(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace fatlink::detail
