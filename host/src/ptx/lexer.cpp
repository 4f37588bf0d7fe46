// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.hpp"

#include <algorithm>
#include <array>

namespace fatlink::ptx {
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

struct directive_grammar {
  std::string_view name;
  std::string_view expected;
  std::string_view after_comma;
};
constexpr std::array<directive_grammar, 5> k_unterminated{{{".version", "n", ""},
                                                           {".address_size", "n", ""},
                                                           {".target", "w", "w"},
                                                           {".file", "ns", "n"},
                                                           {".loc", "nnn", "w"}}};

directive_grammar const* find_directive(token const& word) noexcept
{
  auto const* const found = std::find_if(k_unterminated.begin(), k_unterminated.end(),
                                         [&](auto const& one) { return one.name == word.text; });
  return found == k_unterminated.end() ? nullptr : found;
}

/// Of `unterminated_directive::expected_`.
constexpr char letter_of(token_kind kind) noexcept
{
  return kind == token_kind::number   ? 'n'
         : kind == token_kind::string ? 's'
         : kind == token_kind::word   ? 'w'
                                      : '\0';
}

}  // namespace

void lexer::skip_past(std::string_view end, std::size_t begin) noexcept
{
  auto const match = text_.find(end, begin);
  auto const stop = match == std::string_view::npos ? text_.size() : match + end.size();
  line_ +=
      static_cast<unsigned>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                       text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
  position_ = stop;
}

void lexer::skip_blanks() noexcept
{
  for (;;) {
    auto const is_line_comment = char_at(position_) == '/' && char_at(position_ + 1) == '/';
    if (is_line_comment || char_at(position_) == '#')  // # 1 "a.cu": a preprocessor's line
      skip_past("\n", position_);
    else if (char_at(position_) == '/' && char_at(position_ + 1) == '*')
      skip_past("*/", position_ + 2);
    else if (position_ < text_.size() && is_blank(text_[position_]))
      line_ += text_[position_++] == '\n' ? 1U : 0U;
    else
      return;
  }
}

std::size_t lexer::end_of_word(std::size_t begin) const noexcept
{
  while (continues_word(char_at(begin))) ++begin;
  return begin;
}

std::size_t lexer::end_of_number(std::size_t begin) const noexcept
{
  auto end = begin;
  while (is_alphanumeric(char_at(end)) || char_at(end) == '.' ||
         ((char_at(end) == '-' || char_at(end) == '+') && end > begin &&
          (char_at(end - 1) == 'e' || char_at(end - 1) == 'E') && char_at(begin + 1) != 'x' &&
          char_at(begin + 1) != 'f' && char_at(begin + 1) != 'd'))
    ++end;
  return end;
}

std::size_t lexer::end_of_directive(std::size_t begin) const noexcept
{
  auto end = end_of_word(begin + 1);
  while (char_at(end) == ':' && char_at(end + 1) == ':') end = end_of_word(end + 2);
  return end;
}

token lexer::next() noexcept
{
  skip_blanks();
  token result{.kind = token_kind::end, .line = line_, .offset = position_};
  if (position_ >= text_.size()) return result;
  auto const initial = text_[position_];
  auto end = position_ + 1;
  if (initial == '"') {
    result.kind = token_kind::string;
    skip_past("\"", position_ + 1);
    end = position_;
  } else if (starts_word(initial)) {
    result.kind = token_kind::word;
    end = end_of_word(position_ + 1);
  } else if (is_digit(initial)) {
    result.kind = token_kind::number;
    end = end_of_number(position_);
  } else if (initial == '.') {
    result.kind = token_kind::directive;
    end = end_of_directive(position_);
  } else {
    result.kind = token_kind::mark;
  }
  result.text = text_.substr(result.offset, end - result.offset);
  position_ = end;
  return result;
}

bool unterminated_directive::begins_with(token const& word) noexcept
{
  return find_directive(word) != nullptr;
}

unterminated_directive::unterminated_directive(token const& word) noexcept
{
  if (auto const* const grammar = find_directive(word); grammar != nullptr) {
    expected_ = grammar->expected;
    after_comma_ = grammar->after_comma;
  }
}

bool unterminated_directive::takes(token const& next) noexcept
{
  if (expected_.empty()) return takes_more(next);
  if (letter_of(next.kind) != expected_.front()) return false;
  expected_.remove_prefix(1);
  if (next.text == "function_name") expected_ = "w";
  if (next.text == "inlined_at") expected_ = "nnn";
  return true;
}

bool unterminated_directive::takes_more(token const& next) noexcept
{
  if (after_comma_.empty()) return false;
  if (next.text == ",") expected_ = after_comma_;
  if (next.text == "+") expected_ = "n";
  return !expected_.empty();
}

}  // namespace fatlink::ptx
