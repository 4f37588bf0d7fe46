// SPDX-License-Identifier: Apache-2.0
// Measures the nesting depth of JSON text before it is parsed: parsed values are copied and printed
// recursively, and take some 100 bytes for each bracket.
#pragma once

#include <string_view>

namespace fatlink::detail {

/// Whether brackets and braces outside of strings are nested deeper than `limit`. The result for
/// text that is not JSON has no meaning.
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
