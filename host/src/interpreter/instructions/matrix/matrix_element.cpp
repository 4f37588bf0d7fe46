// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/matrix/matrix_element.hpp"

#include <array>

namespace fatlink::interpreter {

std::optional<element> parse_element(std::string_view word) noexcept
{
  constexpr std::array<std::string_view, 13> k_words{
      // in the order of the enumeration
      "f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "f32", "s32"};
  for (std::size_t i = 0; i < k_words.size(); ++i)
    if (k_words[i] == word) return static_cast<element>(i);
  return {};
}

}  // namespace fatlink::interpreter
