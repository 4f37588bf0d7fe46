// SPDX-License-Identifier: Apache-2.0
#include "expression/words.hpp"

#include <algorithm>
#include <charconv>

#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_shorter = R"(shorten it; in a launch plan "let" names parts of a formula)";

bool is_space(char c) noexcept
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) noexcept
{
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) noexcept
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_name_part(char c) noexcept
{
  return is_name_start(c) || is_digit(c) || c == '.';
}

/// The size of the symbol that `text` begins with.
std::size_t symbol_size(std::string_view text)
{
  for (std::string_view const symbol : {"<=", ">=", "==", "!=", "&&", "||"})
    if (text.starts_with(symbol)) return symbol.size();
  return std::max<std::size_t>(1, utf8_size(text));
}

bool begins_number(std::string_view text) noexcept
{
  return is_digit(text.front()) || (text.size() > 1 && text[0] == '.' && is_digit(text[1]));
}

std::size_t name_size(std::string_view text) noexcept
{
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_name_part) - text.begin());
}

/// The sign of an exponent belongs to a number: "1e-3", but not "1+3".
std::size_t number_size(std::string_view text) noexcept
{
  auto const size = name_size(text);
  auto const word = text.substr(0, size);
  auto const is_signed = word.find_first_not_of("0123456789.") == size - 1 &&
                         (word.back() == 'e' || word.back() == 'E') && size + 1 < text.size() &&
                         (text[size] == '-' || text[size] == '+') && is_digit(text[size + 1]);
  return is_signed ? size + 1 + name_size(text.substr(size + 1)) : size;
}

}  // namespace

expression_words::expression_words(std::string_view text, char const* document)
    : text_(text), document_(document)
{
  if (text.size() > limits::k_expression_bytes)
    throw expression_error(detail::format("has {} characters, above {}, the limit", text.size(),
                                          limits::k_expression_bytes),
                           k_shorter);
  read_word();
}

void expression_words::read_word()
{
  while (place_ < text_.size() && is_space(text_[place_])) ++place_;
  auto const rest = text_.substr(place_);
  if (rest.empty()) {
    kind_ = kind::end;
    word_ = rest;
  } else if (is_name_start(rest.front())) {
    kind_ = kind::name;
    word_ = rest.substr(0, name_size(rest));
  } else if (begins_number(rest)) {
    kind_ = kind::number;
    word_ = rest.substr(0, number_size(rest));
  } else {
    kind_ = kind::symbol;
    word_ = rest.substr(0, symbol_size(rest));
  }
}

bool expression_words::is(std::string_view word) const noexcept
{
  return kind_ != kind::end && word_ == word;
}

std::string_view expression_words::take()
{
  auto const word = word_;
  place_ += word.size();
  read_word();
  return word;
}

bool expression_words::take_if(std::string_view word)
{
  if (!is(word)) return false;
  take();
  return true;
}

void expression_words::expect(std::string_view word)
{
  if (!take_if(word)) fail_expected(detail::format("'{}'", word));
}

std::int64_t expression_words::take_number()
{
  if (kind_ != kind::number) fail_expected("a whole number");
  std::int64_t value = 0;
  auto const [end, status] = std::from_chars(word_.data(), word_.data() + word_.size(), value);
  if (end != word_.data() + word_.size()) fail_fraction(word_, place());
  if (status == std::errc::result_out_of_range) fail_large(word_);
  take();
  return value;
}

std::string_view expression_words::take_name(char const* what)
{
  if (kind_ != kind::name) fail_expected(what);
  return take();
}

void expression_words::expect_end()
{
  if (kind_ != kind::end) fail_expected("the end");
}

void expression_words::fail_expected(std::string const& what) const
{
  auto const rest = kind_ == kind::end ? std::string("it ends")
                                       : detail::format("found '{}'", printable_line(word_));
  throw expression_error(detail::format("expected {} at character {}; {}", what, place(), rest),
                         detail::format("correct it; {} describes what it may hold", document_));
}

void fail_fraction(std::string_view word, std::size_t place)
{
  throw expression_error(
      detail::format("'{}' at character {} is not a whole number", printable_line(word), place),
      "write a whole number in decimal digits, such as 1024");
}

void fail_large(std::string_view word)
{
  throw expression_error(detail::format("{} is above 2^63 - 1", printable_line(word)),
                         "write a number below 9223372036854775808");
}

nesting_level::nesting_level(unsigned& depth) : depth_(depth)
{
  if (depth >= limits::k_expression_depth)
    throw expression_error(
        detail::format("nests deeper than {}, the limit", limits::k_expression_depth), k_shorter);
  ++depth_;
}

}  // namespace fatlink::detail
