// SPDX-License-Identifier: Apache-2.0
#include "compiler/include_lines.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_blank = " \t\f\v\r";
constexpr std::string_view k_word =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
constexpr std::size_t k_longest_value = 256;

/// `text` without blanks at its ends.
std::string_view trimmed(std::string_view text)
{
  auto const first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

std::string_view word_at(std::string_view line, std::size_t position)
{
  auto const end = std::min(line.find_first_not_of(k_word, position), line.size());
  return line.substr(position, end - position);
}

/// Whether `value` may be the name of a header or a part of one: "<a.h>", "\"a.h\"", "a/b-c.h".
bool may_name_header(std::string_view value)
{
  if (value.empty() || value.size() > k_longest_value) return false;
  if (value.front() == '<') return value.find('>') == value.size() - 1;
  if (value.front() == '"') return value.find('"', 1) == value.size() - 1;
  return std::ranges::all_of(value, [](char letter) {
    return k_word.find(letter) != std::string_view::npos || letter == '/' || letter == '.' ||
           letter == '-' || letter == '+';
  });
}

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) {}

  include_directives scan()
  {
    for (std::size_t start = 0; start < text_.size();) {
      auto const end = std::min(text_.find('\n', start), text_.size());
      scan_line(start, end);
      start = end + 1;
    }
    return std::move(found_);
  }

 private:
  void scan_line(std::size_t start, std::size_t end)
  {
    if (is_in_comment_) {
      auto const close = text_.substr(0, end).find("*/", start);
      if (close == std::string_view::npos) return;
      is_in_comment_ = false;
      start = close + 2;
    }
    auto const line = text_.substr(0, end);
    auto const first = skip_blank(line, start);
    if (first != std::string_view::npos && line[first] == '#') read_directive(line, first + 1);
    skip_comments(line, start);
  }

  /// The first position from `start` that is neither blank nor in a comment that the line closes.
  static std::size_t skip_blank(std::string_view line, std::size_t start)
  {
    auto first = line.find_first_not_of(k_blank, start);
    while (first != std::string_view::npos && line.substr(first).starts_with("/*")) {
      auto const close = line.find("*/", first + 2);
      if (close == std::string_view::npos) return close;
      first = line.find_first_not_of(k_blank, close + 2);
    }
    return first;
  }

  /// Sets is_in_comment_ if the line opens a comment that it does not close. Literals may hold what
  /// looks like one.
  void skip_comments(std::string_view line, std::size_t position)
  {
    char quote = 0;
    for (; position < line.size(); ++position) {
      auto const letter = line[position];
      if (quote != 0) {
        if (letter == '\\') ++position;
        if (letter == quote) quote = 0;
      } else if (letter == '"' || letter == '\'') {
        quote = letter;
      } else if (line.substr(position).starts_with("//")) {
        return;
      } else if (line.substr(position).starts_with("/*")) {
        auto const close = line.find("*/", position + 2);
        if (close == std::string_view::npos) {
          is_in_comment_ = true;
          return;
        }
        position = close + 1;
      }
    }
  }

  void read_directive(std::string_view line, std::size_t position)
  {
    position = line.find_first_not_of(k_blank, position);
    if (position == std::string_view::npos) return;
    auto const directive = word_at(line, position);
    if (directive == "define") read_definition(line, position + directive.size());
    if (directive.starts_with("include")) read_include(line, position + directive.size());
    constexpr std::string_view k_has_include = "__has_include";
    for (auto found = line.find(k_has_include, position); found != std::string_view::npos;
         found = line.find(k_has_include, found + 1))
      read_name(line, found + k_has_include.size());
  }

  /// "NAME VALUE"; macros with parameters name no headers.
  void read_definition(std::string_view line, std::size_t position)
  {
    position = std::min(line.find_first_not_of(k_blank, position), line.size());
    auto const name = word_at(line, position);
    auto const rest = line.substr(position + name.size());
    if (name.empty() || rest.starts_with('(')) return;
    auto const value = trimmed(rest.substr(0, std::min(rest.find("//"), rest.find("/*"))));
    if (may_name_header(value)) found_.definitions.push_back({name, value});
  }

  void read_include(std::string_view line, std::size_t position)
  {
    position = skip_blank(line, position);
    if (position == std::string_view::npos) return;
    if (auto const macro = word_at(line, position); !macro.empty())
      found_.macros.push_back(macro);
    else
      read_name(line, position);
  }

  void read_name(std::string_view line, std::size_t position)
  {
    position = line.find_first_of("<\"\n", position);
    if (position == std::string_view::npos) return;
    auto const close = line.find(line[position] == '<' ? '>' : '"', position + 1);
    if (close == std::string_view::npos || close == position + 1) return;
    found_.includes.push_back({.name = line.substr(position + 1, close - position - 1),
                               .is_quoted = line[position] == '"',
                               .offset = position + 1});
  }

  std::string_view text_;
  include_directives found_;
  bool is_in_comment_ = false;
};

}  // namespace

include_directives find_directives(std::string_view text)
{
  return scanner(text).scan();
}

}  // namespace fatlink::detail
