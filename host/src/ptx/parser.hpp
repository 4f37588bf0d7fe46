// SPDX-License-Identifier: Apache-2.0
// Parses PTX text. Meets hostile text: it is fuzzed (tests/fuzz), and whatever it is given it
// returns or throws. Source: PTX ISA 9.0.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "interpreter/decode/failure.hpp"
#include "ptx/lexer.hpp"
#include "ptx/syntax.hpp"

namespace fatlink::cpu {

/// `name` is for messages. Names of registers, local variables and labels are resolved;
/// those of module scope are left to linking.
/// @throws failure (syntax) with `name` and the line; (refused) more than limits::k_tokens tokens,
///   which take 1.5 GB at most.
syntax::module parse_module(std::string_view text, std::string name);

/// Tokens with two of lookahead, and what every part of the parser does with them.
class token_reader {
 public:
  token_reader(std::string_view text, std::string const& source);

  [[nodiscard]] token const& peek() const noexcept { return ahead_[0]; }
  [[nodiscard]] token const& second() const noexcept { return ahead_[1]; }
  [[nodiscard]] bool at(std::string_view text) const noexcept { return peek().text == text; }
  /// @throws failure (refused) above limits::k_tokens.
  token next();
  /// Takes the next token if it is `text`.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// A name: of a function, a variable, a register or a label.
  std::string_view expect_name(std::string_view what);
  /// A number without a sign or point, at most `most`.
  std::uint64_t expect_count(std::string_view what, std::uint64_t most);
  /// Takes every token of the line that the next one is on.
  void skip_line();
  /// Takes tokens to the next `end`, and it. Nested braces are taken whole.
  void skip_past(std::string_view end);
  [[noreturn]] void fail(std::string const& why) const;
  /// @throws failure (refused): a limit of the reference device.
  [[noreturn]] void refuse(std::string const& limit) const;

 private:
  lexer lexer_;
  std::string const& source_;
  token ahead_[2];
  std::uint64_t taken_ = 0;
};

/// `.global .align 4 .b8 name[12] = {…}`, from after the space to after the last comma-separated
/// declarator and its semicolon, or in a parameter list one declarator. In a list of `.param`s
/// the `.ptr` attributes are taken too.
void parse_variables(token_reader& from, space in, syntax::linkage linkage,
                     std::vector<syntax::variable>& to);
syntax::variable parse_parameter(token_reader& from);

/// `.file 1 "wild.cu", …`, the whole line. What has another form is skipped.
void parse_file(token_reader& from, std::map<unsigned, std::string>& to);

/// `.loc 1 7 3, function_name …, inlined_at 1 11 9`, the whole line. Nothing where the column is 0:
/// compilers write that at the beginning of a function, even one whose lines they do not record.
syntax::source_location parse_location(token_reader& from);

/// A number as an operand; `negative` after a minus.
/// @throws failure (syntax) out of range, or no number.
syntax::operand parse_number(token_reader& from, bool negative);

/// The body of `of`, from after the opening brace to after the closing one.
void parse_body(token_reader& from, syntax::function& of);

}  // namespace fatlink::cpu
