// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into words, strings and punctuation, without comments. A directive keeps its
// dot; instructions are of no interest here. Source: PTX ISA 9.0, "Syntax".
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace fatlink::detail {

class ptx_tokens {
 public:
  explicit ptx_tokens(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] bool at_end() const noexcept { return current_.empty(); }
  [[nodiscard]] std::string_view peek() const noexcept { return current_; }
  /// The current token; empty at the end.
  std::string_view next()
  {
    auto const token = current_;
    line_ = next_line_;
    advance();
    return token;
  }
  /// Line of the token that next() gave last, from 1.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

 private:
  static bool is_word(char c) noexcept
  {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
  }

  void advance()
  {
    skip_blanks();
    if (at_ >= text_.size()) return void(current_ = {});
    auto const begin = at_++;
    if (text_[begin] == '"')
      skip_past("\"");
    else if (is_word(text_[begin]) || text_[begin] == '.')
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    current_ = text_.substr(begin, at_ - begin);
  }

  void skip_blanks()
  {
    for (; at_ < text_.size(); ++at_) {
      if (text_.substr(at_, 2) == "//")
        at_ = text_.find('\n', at_) < text_.size() ? text_.find('\n', at_) : text_.size() - 1;
      else if (text_.substr(at_, 2) == "/*") {
        at_ += 2;
        skip_past("*/");
        --at_;
        continue;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) == 0)
        return;
      if (text_[at_] == '\n') ++next_line_;
    }
  }

  void skip_past(std::string_view end)
  {
    auto const found = text_.find(end, at_);
    auto const stop = found == std::string_view::npos ? text_.size() : found + end.size();
    for (; at_ < stop; ++at_)
      if (text_[at_] == '\n') ++next_line_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
  std::string_view current_;
};

}  // namespace fatlink::detail
