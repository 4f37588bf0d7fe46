// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.hpp"

#include <algorithm>
#include <array>

#include "ptx/grammar.hpp"
#include "util/limits.hpp"

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

token_reader::token_reader(std::string_view text, std::string const& source)
    : text_(text), lexer_(text), source_(source)
{
  for (auto& token : lookahead_) token = lexer_.next();
}

token token_reader::next()
{
  if (++token_count_ > limits::k_tokens)
    fail_unsupported("PTX of more than " + std::to_string(limits::k_tokens) + " tokens");
  auto const token = lookahead_[0];
  lookahead_[0] = lookahead_[1];
  lookahead_[1] = lexer_.next();
  if (token.text == "{") ++brace_depth_;
  if (token.text == "}") --brace_depth_;
  return token;
}

bool token_reader::at_mark(std::string_view text) const noexcept
{
  if (text.size() == 1) return at(text);
  return peek().text == text.substr(0, 1) && second().text == text.substr(1) &&
         second().offset == peek().offset + 1;
}

std::string_view token_reader::text_from(token const& begin) const noexcept
{
  constexpr std::size_t k_quoted_bytes = 200;
  auto const end = peek().offset + peek().text.size();
  return text_.substr(begin.offset, std::min(end - begin.offset, k_quoted_bytes));
}

bool token_reader::accept(std::string_view text)
{
  if (!at(text)) return false;
  next();
  return true;
}

void token_reader::expect(std::string_view text)
{
  if (!accept(text))
    fail("expected '" + std::string(text) + "', found '" + std::string(peek().text) + "'");
}

std::string_view token_reader::expect_name(std::string_view description)
{
  if (peek().kind != token_kind::word)
    fail("expected " + std::string(description) + ", found '" + std::string(peek().text) + "'");
  return next().text;
}

std::uint64_t token_reader::expect_count(std::string_view description, std::uint64_t maximum)
{
  auto const number = parse_number(*this, false);
  if (number.kind != syntax::operand_kind::integer || number.bits > maximum)
    fail(std::string(description) + " is not an integer from 0 to " + std::to_string(maximum));
  return number.bits;
}

std::vector<token> token_reader::take_directive()
{
  constexpr std::size_t k_most_kept = 16;
  std::vector<token> words{next()};
  for (unterminated_directive directive(words.front()); directive.takes(peek());) {
    auto const word = next();
    if (words.size() < k_most_kept) words.push_back(word);
  }
  return words;
}

void token_reader::skip_past(std::string_view end)
{
  for (unsigned depth = 0;;) {
    auto const token = next();
    if (token.kind == token_kind::end)
      fail("expected '" + std::string(end) + "', found the end of the file");
    if (depth == 0 && token.text == end) return;
    if (token.text == "{") ++depth;
    if (token.text == "}" && depth > 0) --depth;
  }
}

void token_reader::fail(std::string const& detail) const
{
  throw syntax_error(syntax_error::kind::malformed, source_, peek().line, detail);
}

void token_reader::fail_unsupported(std::string const& feature) const
{
  throw syntax_error(syntax_error::kind::unsupported, source_, peek().line, feature);
}

}  // namespace fatlink::ptx
