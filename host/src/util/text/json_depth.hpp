// SPDX-License-Identifier: Apache-2.0
// How deep JSON text nests, before it is parsed: the parsed value is copied and printed
// recursively, and takes some 100 bytes for each bracket.
#pragma once

#include <string_view>

namespace fatlink::detail {

/// Whether brackets and braces outside of strings are nested deeper than `limit`. Of text that is
/// not JSON any answer is right.
inline bool is_nested_deeper(std::string_view json, unsigned limit) noexcept
{
  unsigned depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto const letter = json[i];
    if (in_string) {
      if (letter == '\\') ++i;
      in_string = letter != '"';
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > limit) return true;
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace fatlink::detail
