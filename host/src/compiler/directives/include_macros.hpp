// SPDX-License-Identifier: Apache-2.0
// The headers that directives like #include NAME and #if HAS(NAME) may mean, where these are
// macros. Conditions are not evaluated: each definition of a macro counts, wherever it is, so there
// may be several headers, of which the compiler takes one. Thrust names headers so:
//   #define ROOT thrust/system/cuda
//   #define HEADER <ROOT/vector.h>
//   #include HEADER
// What expands to other text than the name of a header names none.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/directives/include_lines.hpp"
#include "compiler/directives/macro_expander.hpp"

namespace fatlink::detail {

class include_macros {
 public:
  /// A header that a use may mean.
  struct header_name {
    std::string name = {};
    bool is_quoted = false;
    friend bool operator<(header_name const& a, header_name const& b)
    {
      return std::tie(a.name, a.is_quoted) < std::tie(b.name, b.is_quoted);
    }
  };
  /// The number of a use: of the names of headers, in the order of add().
  using use_number = std::size_t;

  /// Adds the macros of one text. Its uses of kind `is_call` are kept apart, and once each.
  void add(include_directives const& directives);

  /// How many different definitions, uses and macros in conditions there are.
  [[nodiscard]] std::size_t size() const noexcept
  {
    return expander_.definition_count() + uses_.size() + calls_.size();
  }
  /// Expands what may have changed since the last call: returns the uses with new headers.
  std::vector<use_number> expand();
  /// The headers that a use may mean.
  [[nodiscard]] std::set<header_name> const& headers_of(use_number number) const
  {
    return uses_[number].headers;
  }
  /// The headers for which conditions look by macros that call __has_include.
  [[nodiscard]] std::set<header_name> const& condition_headers() const noexcept
  {
    return condition_headers_;
  }
  /// A use in a condition of which a limit left headers out; empty: there is none.
  [[nodiscard]] std::string unresolved() const;

 private:
  struct use {
    std::string text = {};
    bool is_checked = false;  ///< a condition is false if no header is found
    bool is_cut = false;      ///< see macro_use
    bool is_incomplete = false;
    std::set<header_name> headers = {};
  };
  using macro_name = std::string const*;  ///< in names_
  void add_definition(macro_definition const& definition);
  void add_use(macro_use const& directive);
  void mark_testing(std::string const& macro);
  void wait_for_changed();
  bool expand(use& subject, std::size_t number);

  macro_expander expander_;
  std::vector<use> uses_;   ///< of names of headers
  std::vector<use> calls_;  ///< of macros in conditions
  std::set<std::string> call_texts_;
  std::map<std::string, std::vector<std::size_t>> calls_of_;  ///< by the first word
  std::set<header_name> condition_headers_;
  /// By word, what expands it: numbers of uses_, or k_call + numbers of calls_.
  std::map<std::string, std::set<std::size_t>> dependents_;
  std::set<std::string> changed_;  ///< macros that were defined since the last expand()
  std::set<std::size_t> waiting_;
  std::set<std::string> names_;                           ///< of macros
  std::set<std::string, std::less<>> testing_;            ///< macros that expand to __has_include
  std::map<std::string, std::vector<macro_name>> users_;  ///< by word, macros that have it
};

}  // namespace fatlink::detail
