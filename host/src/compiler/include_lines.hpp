// SPDX-License-Identifier: Apache-2.0
// Finds the #include directives of a text, without evaluating conditions or expanding macros.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// An #include, or a __has_include of a condition.
struct include_line {
  std::string_view name = {};  ///< without quotes or brackets; points into the text
  bool is_quoted = false;      ///< "…", which also searches the folder of its own file
  std::size_t offset = 0;      ///< of the name in the text
};

/// The directives of `text`, in order, except those in comments.
std::vector<include_line> find_includes(std::string_view text);

}  // namespace fatlink::detail
