// SPDX-License-Identifier: Apache-2.0
// Finds the directives of a text that decide which headers it includes, without evaluating
// conditions or expanding macros.
// Threads: no shared state.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/directives/joined_text.hpp"

namespace fatlink::detail {

// The views in these point into include_directives::text, the ranges into the original.

/// An #include, or the name of a header that a line passes to __has_include or to a macro.
struct include_line {
  std::string_view name = {};  ///< without quotes or brackets
  bool is_quoted = false;      ///< "…", which also searches the folder of its own file
  text_range range = {};       ///< of the name
  bool is_condition = false;   ///< not an #include
  bool is_definition = false;  ///< in the value of a macro
  bool is_certain = true;      ///< false: an argument of a macro, which may also be other text
  bool is_next = false;        ///< of #include_next or __has_include_next
  text_range word = {};        ///< of that word, if is_next
};

/// What the compiler expands to find a header.
struct macro_use {
  std::string_view text = {};  ///< "NAME" or "NAME(…)"
  text_range range = {};       ///< of the text
  bool is_condition = false;   ///< in #if or #elif, not in #include
  bool is_call = false;        ///< may call __has_include; false: is the name of a header
  bool is_certain = true;      ///< false: an argument of a macro, which may also be other text
  bool is_cut = false;         ///< its arguments are left out: they are longer than the limit
};

/// A macro whose value may be the name of a header, a part of one, or a test for one.
struct macro_definition {
  std::string_view name = {};
  std::string_view parameters = {};  ///< "a, b" of NAME(a, b)
  bool is_function = false;          ///< has parameters, may be none
  /// Without comments: "<a/b.h>", "\"b.h\"", "a/ROOT", "NAME", "TEXT(x.h)".
  std::string value = {};
};

struct include_directives {
  std::vector<include_line> includes = {};
  std::vector<macro_use> uses = {};
  std::vector<macro_definition> definitions = {};
  std::shared_ptr<joined_text const> text = {};
  bool is_complete = true;  ///< false: it has more directives than the limit
};

/// At most so many directives of each kind are read of a text.
inline constexpr std::size_t k_most_directives = 262'144;

/// The directives of `text`, each kind in order, except those in comments. `text` must outlive
/// them.
include_directives find_directives(std::string_view text);

}  // namespace fatlink::detail
