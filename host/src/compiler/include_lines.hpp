// SPDX-License-Identifier: Apache-2.0
// Finds the directives of a text that decide which headers it includes, without evaluating
// conditions or expanding macros.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace fatlink::detail {

/// An #include, or the name of a header that a line passes to __has_include or to a macro.
struct include_line {
  std::string_view name = {};  ///< without quotes or brackets; points into the text
  bool is_quoted = false;      ///< "…", which also searches the folder of its own file
  std::size_t offset = 0;      ///< of the name in the text
  bool is_condition = false;   ///< not an #include
  bool is_certain = true;      ///< the argument of a macro may also be no header
  bool is_next = false;        ///< of #include_next
};

/// A macro whose value may be the name of a header, or a part of one.
struct macro_definition {
  std::string_view name = {};   ///< points into the text
  std::string_view value = {};  ///< "<a/b.h>", "\"b.h\"", "a/ROOT" or "NAME"; points into the text
};

struct include_directives {
  std::vector<include_line> includes = {};
  /// NAME of each #include NAME, __has_include(NAME) and #if MACRO(NAME)
  std::vector<std::string_view> macros = {};
  std::vector<macro_definition> definitions = {};
};

/// The directives of `text`, each kind in order, except those in comments.
include_directives find_directives(std::string_view text);

}  // namespace fatlink::detail
