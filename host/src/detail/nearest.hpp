// SPDX-License-Identifier: Apache-2.0
// "Did you mean": how unlike two words are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// How many letters must be inserted, removed or replaced, or neighbours swapped (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The one of `words` most like `word`; empty where none shares half of its letters. Of two words
/// where one begins with the other, the distance counts as 1.
std::string nearest(std::vector<std::string> const& words, std::string_view word);

}  // namespace fatlink::detail
