// SPDX-License-Identifier: Apache-2.0
// The texts of a set of headers, by the names that the compiler knows them by (header_set).
// Threads: one at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/directives/text_edits.hpp"
#include "compiler/headers/header_folders.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

class header_texts {
 public:
  struct header {
    std::string text = {};
    std::optional<header_place> place = {};  ///< nothing: it is in memory only
    std::vector<text_edit> edits = {};       ///< that names need
    std::string alias_of = {};               ///< the name of the header that it includes, or empty
  };

  [[nodiscard]] bool contains(std::string const& name) const { return headers_.contains(name); }
  [[nodiscard]] header& at(std::string const& name) { return headers_.at(name); }

  /// Adds a header whose directives are to be read, without the byte order mark. Takes the place of
  /// an alias, and of no other header.
  /// @throws file_error invalid_source: `text` has a NUL; above_limit: more than 4,096 headers.
  void insert(std::string const& name, std::string text, std::optional<header_place> place);
  /// Adds a header `spelled` that includes the header `name`, unless there is one.
  /// @throws file_error above_limit, as insert.
  void add_alias(std::string const& spelled, std::string const& name);
  /// Adds a text that is not a header.
  void add_other(std::string const& name, std::string text);

  /// A header whose directives are to be read, and which is not named again; nothing: there is
  /// none.
  std::optional<std::string> take_pending();
  [[nodiscard]] bool has_pending() const noexcept { return !pending_.empty(); }

  /// The headers in the order of their names, with their edits and `others`, by name.
  [[nodiscard]] std::vector<memory_header> edited_headers(
      std::map<std::string, std::vector<text_edit>> const& others) const;

 private:
  std::map<std::string, header> headers_;
  std::vector<std::string> pending_;
};

}  // namespace fatlink::detail
