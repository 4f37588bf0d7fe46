// SPDX-License-Identifier: Apache-2.0
// Replaces parts of a text, so that the lines after them keep their numbers.
// Threads: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/directives/joined_text.hpp"

namespace fatlink::detail {

/// A part of a text, and what takes its place.
struct text_edit {
  text_range range = {};
  std::string text = {};
};

/// `text` with the edits, in any order; of two that overlap, the second is left out. Where a part
/// has ends of lines, each after a backslash, so has the new text.
std::string edited(std::string_view text, std::vector<text_edit> edits);

}  // namespace fatlink::detail
