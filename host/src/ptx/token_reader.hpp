// SPDX-License-Identifier: Apache-2.0
// The tokens of a PTX module with two tokens of lookahead, and the errors of the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/syntax_error.hpp"

namespace fatlink::ptx {

/// Every member that reads throws syntax_error (unsupported) after limits::k_tokens tokens.
class token_reader {
 public:
  /// `source` names the module in messages; it must outlive the reader.
  token_reader(std::string_view text, std::string const& source);

  [[nodiscard]] token const& peek() const noexcept { return lookahead_[0]; }
  [[nodiscard]] token const& second() const noexcept { return lookahead_[1]; }
  /// Whether the next token is `text`.
  [[nodiscard]] bool at(std::string_view text) const noexcept { return peek().text == text; }
  token next();
  /// Reads the next token if it is `text`; returns whether it was.
  bool accept(std::string_view text);
  /// @throws syntax_error (malformed) the next token is not `text`.
  void expect(std::string_view text);
  /// Reads the name of a function, variable, register or label; `description` describes it in
  /// messages.
  /// @throws syntax_error (malformed) the next token is not a word.
  std::string_view expect_name(std::string_view description);
  /// Reads an unsigned integer.
  /// @throws syntax_error (malformed) not an integer, or more than `maximum`.
  std::uint64_t expect_count(std::string_view description, std::uint64_t maximum);
  /// Whether the next tokens are `text`, with no blanks in between; `text` has one or two
  /// characters of punctuation.
  [[nodiscard]] bool at_mark(std::string_view text) const noexcept;
  /// Reads the unterminated_directive at the next token. Returns at most 16 tokens of it, which are
  /// all of `.loc`, with the directive as the first.
  std::vector<token> take_directive();
  /// Reads up to and including the next `end` outside of braces that open on the way.
  void skip_past(std::string_view end);

  /// Opening braces read so far, less closing ones.
  [[nodiscard]] std::int64_t brace_depth() const noexcept { return brace_depth_; }
  /// The text from `begin` to the end of the next token, at most 200 bytes.
  [[nodiscard]] std::string_view text_from(token const& begin) const noexcept;

  /// @throws syntax_error (malformed) at the next token.
  [[noreturn]] void fail(std::string const& detail) const;
  /// @throws syntax_error (unsupported) at the next token.
  [[noreturn]] void refuse(std::string const& feature) const;

 private:
  std::string_view text_;
  lexer lexer_;
  std::string const& source_;
  token lookahead_[2];
  std::int64_t brace_depth_ = 0;
  std::uint64_t token_count_ = 0;
};

}  // namespace fatlink::ptx
