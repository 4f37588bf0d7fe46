// SPDX-License-Identifier: Apache-2.0
#include "plan/formula_words.hpp"

#include <algorithm>
#include <charconv>

#include "plan/formula_error.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

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
  return is_name_start(c) || is_digit(c);
}

/// The size of the symbol that `text` begins with.
std::size_t symbol_size(std::string_view text)
{
  if (text.size() > 1 && text[1] == '=' && std::string_view("<>=!").find(text[0]) != text.npos)
    return 2;
  return std::max<std::size_t>(1, utf8_size(text));
}

}  // namespace

formula_words::formula_words(std::string_view text) : text_(text)
{
  if (text.size() > limits::k_expression_bytes)
    throw formula_error(detail::format("has {} characters, above {}, the limit", text.size(),
                                       limits::k_expression_bytes),
                        R"(name parts of it in "let")");
  read_word();
}

void formula_words::read_word()
{
  while (place_ < text_.size() && is_space(text_[place_])) ++place_;
  auto const rest = text_.substr(place_);
  auto const first = rest.empty() ? '\0' : rest.front();
  auto const size_of = [&](bool (*is_part)(char)) {
    return static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_part) -
                                    rest.begin());
  };
  if (rest.empty()) {
    kind_ = kind::end;
    word_ = rest;
  } else if (is_name_start(first)) {
    kind_ = kind::name;
    word_ = rest.substr(0, size_of([](char c) { return is_name_part(c); }));
  } else if (is_digit(first)) {
    kind_ = kind::number;
    word_ = rest.substr(0, size_of([](char c) { return is_name_part(c); }));
  } else {
    kind_ = kind::symbol;
    word_ = rest.substr(0, symbol_size(rest));
  }
}

bool formula_words::is(std::string_view word) const noexcept
{
  return kind_ != kind::end && word_ == word;
}

std::string_view formula_words::take()
{
  auto const word = word_;
  place_ += word.size();
  read_word();
  return word;
}

bool formula_words::take_if(std::string_view word)
{
  if (!is(word)) return false;
  take();
  return true;
}

void formula_words::expect(std::string_view word)
{
  if (!take_if(word)) fail_expected(detail::format("'{}'", word));
}

std::int64_t formula_words::take_number()
{
  if (kind_ != kind::number) fail_expected("a whole number");
  std::int64_t value = 0;
  auto const [end, status] = std::from_chars(word_.data(), word_.data() + word_.size(), value);
  if (status == std::errc::result_out_of_range)
    throw formula_error(detail::format("{} is above 2^63 - 1", printable_line(word_)),
                        "write a number below 9223372036854775808");
  if (end != word_.data() + word_.size())
    throw formula_error(detail::format("'{}' at character {} is not a whole number",
                                       printable_line(word_), place()),
                        "write a whole number in decimal digits, such as 1024");
  take();
  return value;
}

std::string_view formula_words::take_name(char const* what)
{
  if (kind_ != kind::name) fail_expected(what);
  return take();
}

void formula_words::expect_end()
{
  if (kind_ != kind::end) fail_expected("the end");
}

void formula_words::fail_expected(std::string const& what) const
{
  auto const rest = kind_ == kind::end ? std::string("it ends")
                                       : detail::format("found '{}'", printable_line(word_));
  throw formula_error(detail::format("expected {} at character {}; {}", what, place(), rest),
                      "correct the formula; docs/launch_plans.md describes what it may hold");
}

nesting_level::nesting_level(unsigned& depth) : depth_(depth)
{
  if (depth >= limits::k_expression_depth)
    throw formula_error(
        detail::format("nests deeper than {}, the limit", limits::k_expression_depth),
        R"(name parts of it in "let")");
  ++depth_;
}

}  // namespace fatlink::detail
