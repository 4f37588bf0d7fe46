// SPDX-License-Identifier: Apache-2.0
// The places where macros name headers, in the source and in headers: what they may name, and what
// is written there instead. A "…" name means the file beside the header that has the directive; the
// compiler looks it up as it is spelled. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/directives/include_macros.hpp"
#include "compiler/directives/text_edits.hpp"
#include "compiler/headers/header_texts.hpp"

namespace fatlink::detail {

class header_macros {
 public:
  /// A header that a place may name.
  struct value {
    std::size_t place = 0;
    include_macros::header_name name = {};
  };

  /// `owner`: of the text, by its name in the set; empty: the source.
  /// @throws file_error above_limit: more than k_most_directives.
  void add(include_directives const& directives, std::string const& owner);
  /// All values of the places that have new ones since the last call.
  std::vector<value> expand();
  /// The headers for which conditions look by macros that call __has_include.
  [[nodiscard]] std::set<include_macros::header_name> const& condition_headers() const noexcept
  {
    return macros_.condition_headers();
  }
  /// See include_macros::unresolved.
  [[nodiscard]] std::string unresolved() const { return macros_.unresolved(); }

  /// The header that has the directive of `place`; empty: the source.
  [[nodiscard]] std::string const& owner_of(std::size_t place) const
  {
    return places_[place].owner;
  }
  /// Whether `place` can only be the name of a header.
  [[nodiscard]] bool is_certain(std::size_t place) const { return places_[place].is_certain; }
  /// States that `spelled` in `place` means the header `name`, which is beside its owner.
  void set_beside(std::size_t place, std::string const& spelled, std::string name);

  /// Gives each place that names files beside its owner the name in the set, or where it has
  /// several values, `texts` aliases. @throws compile_error (header_not_found) an alias is of
  /// another header; file_error as header_texts::add_alias.
  void settle(header_texts& texts);
  /// What settle() changed, by the owner.
  [[nodiscard]] std::map<std::string, std::vector<text_edit>> edits() const;

 private:
  struct macro_place {
    std::string owner = {};
    text_range range = {};
    bool is_certain = true;
    std::map<std::string, std::string> beside = {};  ///< names in the set, by spelling
    std::optional<text_edit> edit = {};
  };

  include_macros macros_;
  std::vector<macro_place> places_;  ///< by number of a use of macros_
};

}  // namespace fatlink::detail
