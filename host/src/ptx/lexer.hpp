// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens and drops comments and lines of a preprocessor (`# 1 "a.cu"`). White
// space, including newlines, only separates tokens. Source: PTX ISA 9.0, "Syntax".
#pragma once

#include <cstddef>
#include <string_view>

namespace fatlink::ptx {

enum class token_kind {
  end,
  word,       ///< add, %r1, $L__BB0_2, _Z3foof
  directive,  ///< .f32, .L1::no_allocate: including the dot
  number,     ///< 12, 0x1F, 1.5e3, 0f3F800000, 42U
  string,     ///< including the quotes
  mark,       ///< one character of punctuation
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text = {};
  unsigned line = 1;       ///< from 1
  std::size_t offset = 0;  ///< of the first byte in the text
};

class lexer {
 public:
  explicit lexer(std::string_view text) noexcept : text_(text) {}
  /// The next token; at the end of the text a token of kind `end`, at every call.
  token next() noexcept;

 private:
  void skip_blanks() noexcept;
  /// Skips up to and including the first `end` at or after `begin`, or to the end of the text.
  void skip_past(std::string_view end, std::size_t begin) noexcept;
  [[nodiscard]] std::size_t end_of_word(std::size_t begin) const noexcept;
  [[nodiscard]] std::size_t end_of_number(std::size_t begin) const noexcept;
  [[nodiscard]] std::size_t end_of_directive(std::size_t begin) const noexcept;
  [[nodiscard]] char char_at(std::size_t index) const noexcept
  {
    return index < text_.size() ? text_[index] : '\0';
  }

  std::string_view text_;
  std::size_t position_ = 0;
  unsigned line_ = 1;
};

/// Finds the end of a directive without a semicolon, token by token: its grammar states it, not the
/// end of its line. Checked with ptxas 13.0.
///
///   .version N   .address_size N   .target WORD { "," WORD }   .file N STRING { "," N }
///   .loc N N N [ "," function_name LABEL [ "+" N ] ] [ "," inlined_at N N N ]
class unterminated_directive {
 public:
  static bool begins_with(token const& word) noexcept;
  /// `word`: begins_with(word) is true.
  explicit unterminated_directive(token const& word) noexcept;
  /// Whether `next`, the token after those that it took before, belongs to the directive too.
  bool takes(token const& next) noexcept;

 private:
  bool takes_more(token const& next) noexcept;

  std::string_view after_comma_ = {};  ///< what follows a comma, as in `expected_`
  std::string_view expected_ = {};     ///< kinds of the next tokens: n number, s string, w word
};

}  // namespace fatlink::ptx
