// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens, without comments. Source: PTX ISA 9.0, "Syntax".
#pragma once

#include <cstddef>
#include <string_view>

namespace fatlink::cpu {

enum class token_kind {
  end,
  word,       ///< add, %r1, $L__BB0_2, _Z3foof
  directive,  ///< .f32, .L1::no_allocate: with its dot
  number,     ///< 12, 0x1F, 1.5e3, 0f3F800000, 42U
  string,     ///< "with its quotes"
  mark,       ///< one character of punctuation
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
  unsigned line = 1;       ///< from 1
  std::size_t offset = 0;  ///< of the first byte
};

class lexer {
 public:
  explicit lexer(std::string_view text) noexcept : text_(text) {}
  /// The next token; at the end of the text, one of kind `end`, for ever.
  token next() noexcept;

 private:
  void skip_blanks() noexcept;
  void skip_until(std::string_view end) noexcept;
  [[nodiscard]] std::size_t end_of_word(std::size_t from) const noexcept;
  [[nodiscard]] std::size_t end_of_number(std::size_t from) const noexcept;
  [[nodiscard]] std::size_t end_of_directive(std::size_t from) const noexcept;
  [[nodiscard]] char at(std::size_t index) const noexcept
  {
    return index < text_.size() ? text_[index] : '\0';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
};

}  // namespace fatlink::cpu
