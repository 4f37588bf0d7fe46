// SPDX-License-Identifier: Apache-2.0
#include "ptx/token_reader.hpp"

#include <algorithm>

#include "ptx/grammar.hpp"
#include "util/limits.hpp"

namespace fatlink::ptx {

token_reader::token_reader(std::string_view text, std::string const& source)
    : text_(text), lexer_(text), source_(source)
{
  for (auto& token : lookahead_) token = lexer_.next();
}

token token_reader::next()
{
  if (++token_count_ > limits::k_tokens)
    refuse("PTX of more than " + std::to_string(limits::k_tokens) + " tokens");
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

void token_reader::refuse(std::string const& feature) const
{
  throw syntax_error(syntax_error::kind::unsupported, source_, peek().line, feature);
}

}  // namespace fatlink::ptx
