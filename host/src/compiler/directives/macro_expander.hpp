// SPDX-License-Identifier: Apache-2.0
// Expands macros of which several definitions may hold, to all texts that may result. Knows
// arguments, "#" and "##"; a macro is not expanded within itself. Not for other text than names of
// headers: blanks and literals stay as they are. Source: C++20, [cpp.replace].
// Threads: one at a time.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/directives/include_lines.hpp"

namespace fatlink::detail {

class macro_expander {
 public:
  using texts = std::set<std::string>;

  /// Returns false if it knows this definition.
  bool add(macro_definition const& definition);
  [[nodiscard]] std::size_t definition_count() const noexcept { return count_; }

  /// What `text` may expand to; also adds the words that were looked up to `words`. At most 1,024
  /// texts of at most 1,024 letters, through macros in 12 levels; all calls together make at most
  /// 500,000 texts. is_incomplete() tells whether a limit left some out.
  texts expand(std::string_view text, texts& words);
  /// Whether the last call reached a limit.
  [[nodiscard]] bool is_incomplete() const noexcept { return is_incomplete_; }

 private:
  struct macro {
    bool is_function = false;
    std::vector<std::string> parameters = {};
    std::string value = {};
    friend bool operator<(macro const& a, macro const& b)
    {
      return std::tie(a.is_function, a.parameters, a.value) <
             std::tie(b.is_function, b.parameters, b.value);
    }
  };
  texts expand_text(std::string_view text, int depth);
  texts expand_word(std::string_view word, std::string_view tail, int depth);
  texts expand_value(std::string_view word, std::string_view value, int depth);
  texts substitute(macro const& called, std::vector<std::string_view> const& arguments, int depth);
  texts expand_tail(std::string_view name, texts const& values, std::string_view tail, int depth);
  [[nodiscard]] bool takes_arguments(std::string_view word) const;
  texts join(texts const& heads, texts const& tails);
  bool may_make_text();

  std::map<std::string, std::set<macro>, std::less<>> definitions_;
  std::size_t count_ = 0;
  int texts_left_ = 500'000;
  int nesting_ = 0;                       ///< of expand_text
  std::vector<std::string_view> active_;  ///< macros whose values are expanded
  bool is_incomplete_ = false;
  texts* words_ = nullptr;
};

}  // namespace fatlink::detail
