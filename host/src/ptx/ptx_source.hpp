// SPDX-License-Identifier: Apache-2.0
// PTX text as words, with errors that name the file and the line, and the module-scope variables
// that it declares. Source: PTX ISA 9.0, "Variables".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "ptx/lexer.hpp"

namespace fatlink::detail {

class ptx_source {
 public:
  /// `text` and `name` must outlive the source; `name` is the file in messages.
  ptx_source(std::string_view text, std::string_view name)
      : lexer_(text), name_(name), token_(lexer_.next())
  {
  }

  [[nodiscard]] bool at_end() const noexcept { return token_.kind == ptx::token_kind::end; }
  /// The next word; empty at the end.
  [[nodiscard]] std::string_view peek() const noexcept { return token_.text; }
  /// Reads the rest of the directive `word`, which next() returned, if it has no semicolon.
  /// Returns whether it is one of these.
  bool skip_unterminated(std::string_view word) noexcept;
  /// Reads the next word; empty at the end.
  std::string_view next() noexcept
  {
    auto const word = token_.text;
    if (token_.kind == ptx::token_kind::word && !mentions_.empty()) note_mention(word);
    line_ = token_.line;
    token_ = lexer_.next();
    return word;
  }

  /// From here on notes whether next() returns `name`.
  void watch(std::string_view name) { mentions_.emplace(name, false); }
  /// Whether next() has returned `name` since watch(name).
  [[nodiscard]] bool is_mentioned(std::string_view name) const { return mentions_.at(name); }
  /// @throws file_error "NAME: its PTX REASON (line N)".
  [[noreturn]] void fail(std::string const& reason) const;
  /// @throws file_error above-limit: "NAME: its PTX REASON, the limit (line N)".
  [[noreturn]] void exceed(std::string const& reason) const;
  /// Returns `name`. @throws file_error above-limit: longer than limits::k_name_bytes.
  [[nodiscard]] std::string_view checked_name(std::string_view name) const;
  /// Returns `type`. @throws file_error above-limit: longer than limits::k_type_bytes.
  [[nodiscard]] std::string_view checked_type(std::string_view type) const;
  /// The value of `digits`, decimal or 0x…. @throws file_error any other text.
  [[nodiscard]] unsigned long read_number(std::string_view digits) const;

 private:
  void note_mention(std::string_view word) noexcept;

  ptx::lexer lexer_;
  std::string_view name_;
  ptx::token token_;                           ///< the next one
  std::map<std::string_view, bool> mentions_;  ///< of the names that are watched
  unsigned line_ = 1;                          ///< of the word that next() returned last
};

/// Reads `(.managed)` or `(.unified(1, 2))`; returns whether it contains .managed.
/// @throws file_error damaged text.
bool read_attribute(ptx_source& source);

/// Reads the variables of one declaration, from after its state space (`space`, without the dot) up
/// to and including its ";". Linkage is set by the caller. @throws file_error damaged text.
std::vector<ptx_variable> read_variables(ptx_source& source, std::string_view space);

/// Bytes of `variable` as far as its type's name tells: 0 where it does not, and of `[]`.
std::uint64_t bytes_of(ptx_variable const& variable);

}  // namespace fatlink::detail
