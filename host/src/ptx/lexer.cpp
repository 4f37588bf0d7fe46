// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.hpp"

#include <algorithm>

namespace fatlink::cpu {
namespace {

// Not <cctype>: no locale, and no undefined behaviour on bytes above 127.
constexpr bool is_digit(char c) noexcept
{
  return c >= '0' && c <= '9';
}
constexpr bool is_alphanumeric(char c) noexcept
{
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool starts_word(char c) noexcept
{
  return (is_alphanumeric(c) && !is_digit(c)) || c == '_' || c == '$' || c == '%';
}
constexpr bool continues_word(char c) noexcept
{
  return is_alphanumeric(c) || c == '_' || c == '$';
}
constexpr bool is_blank(char c) noexcept
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

void lexer::skip_until(std::string_view end) noexcept
{
  auto const found = text_.find(end, at_);
  auto const stop = found == std::string_view::npos ? text_.size() : found + end.size();
  line_ +=
      static_cast<unsigned>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                       text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
  at_ = stop;
}

void lexer::skip_blanks() noexcept
{
  for (;;) {
    if (at(at_) == '/' && at(at_ + 1) == '/')
      skip_until("\n");
    else if (at(at_) == '/' && at(at_ + 1) == '*')
      skip_until("*/");
    else if (at_ < text_.size() && is_blank(text_[at_]))
      line_ += text_[at_++] == '\n' ? 1U : 0U;
    else
      return;
  }
}

std::size_t lexer::end_of_word(std::size_t from) const noexcept
{
  while (continues_word(at(from))) ++from;
  return from;
}

std::size_t lexer::end_of_number(std::size_t from) const noexcept
{
  auto end = from;
  while (is_alphanumeric(at(end)) || at(end) == '.' ||
         ((at(end) == '-' || at(end) == '+') && end > from &&
          (at(end - 1) == 'e' || at(end - 1) == 'E') && at(from + 1) != 'x' &&
          at(from + 1) != 'f' && at(from + 1) != 'd'))
    ++end;
  return end;
}

std::size_t lexer::end_of_directive(std::size_t from) const noexcept
{
  auto end = end_of_word(from + 1);
  while (at(end) == ':' && at(end + 1) == ':') end = end_of_word(end + 2);
  return end;
}

token lexer::next() noexcept
{
  skip_blanks();
  token found{.kind = token_kind::end, .text = {}, .line = line_, .offset = at_};
  if (at_ >= text_.size()) return found;
  auto const first = text_[at_];
  auto end = at_ + 1;
  if (first == '"') {
    found.kind = token_kind::string;
    ++at_;
    skip_until("\"");
    end = at_;
  } else if (starts_word(first)) {
    found.kind = token_kind::word;
    end = end_of_word(at_ + 1);
  } else if (is_digit(first)) {
    found.kind = token_kind::number;
    end = end_of_number(at_);
  } else if (first == '.') {
    found.kind = token_kind::directive;
    end = end_of_directive(at_);
  } else {
    found.kind = token_kind::mark;
  }
  found.text = text_.substr(found.offset, end - found.offset);
  at_ = end;
  return found;
}

}  // namespace fatlink::cpu
