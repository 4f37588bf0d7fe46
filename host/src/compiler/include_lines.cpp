// SPDX-License-Identifier: Apache-2.0
#include "compiler/include_lines.hpp"

#include <algorithm>
#include <cctype>

#include "compiler/source_reader.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_blank = " \t\f\v\r";
constexpr std::size_t k_longest_value = 256;

bool is_name_letter(char letter)
{
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_/.-+").find(letter) != std::string_view::npos;
}

/// `text` without blanks at its ends.
std::string_view trimmed(std::string_view text)
{
  auto const first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

/// Whether `value` may be the name of a header or a part of one: "<a.h>", "\"a.h\"", "a/b-c.h".
bool may_name_header(std::string_view value)
{
  if (value.empty() || value.size() > k_longest_value) return false;
  if (value.front() == '<') return value.find('>') == value.size() - 1;
  if (value.front() == '"') return value.find('"', 1) == value.size() - 1;
  return std::ranges::all_of(value, is_name_letter);
}

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text), reader_(text) {}

  include_directives scan()
  {
    while (!reader_.is_at_end()) {
      reader_.skip_blank();
      if (reader_.is_at('#')) read_directive();
      reader_.skip_line();
    }
    return std::move(directives_);
  }

 private:
  void read_directive()
  {
    reader_.skip_token();
    reader_.skip_blank();
    auto const directive = reader_.read_word();
    if (directive == "define") read_definition();
    if (directive == "include" || directive == "include_next") read_include(directive != "include");
    if (directive == "if" || directive == "elif") read_arguments(true);
  }

  void read_include(bool is_next)
  {
    reader_.skip_blank();
    if (reader_.is_at('<') || reader_.is_at('"'))
      read_name({.is_next = is_next});
    else if (auto const macro = reader_.read_word(); !macro.empty())
      directives_.macros.push_back(macro);
  }

  /// The name at '<' or '"', as `kind` describes it.
  void read_name(include_line kind)
  {
    kind.is_quoted = reader_.is_at('"');
    kind.offset = reader_.position() + 1;
    kind.name = reader_.read_header_name();
    if (!kind.name.empty()) directives_.includes.push_back(kind);
  }

  /// "NAME VALUE" and "NAME(…) VALUE".
  void read_definition()
  {
    reader_.skip_blank();
    auto const name = reader_.read_word();
    if (name.empty()) return;
    if (!reader_.is_at('(')) read_value(name);
    read_arguments(false);
  }

  /// The value of the macro `name`, if it may name a header: one line without comments.
  void read_value(std::string_view name)
  {
    auto const rest = text_.substr(reader_.position(), k_longest_value + 2);
    auto const line = rest.substr(0, rest.find('\n'));
    auto const value = trimmed(line.substr(0, std::min(line.find("//"), line.find("/*"))));
    if (may_name_header(value)) directives_.definitions.push_back({name, value});
  }

  /// What the line passes to __has_include, or to a macro that may call it: headers, and in a
  /// condition macros. "defined(NAME)" names none.
  void read_arguments(bool is_condition)
  {
    std::string_view word;
    while (!reader_.is_at_line_end()) {
      reader_.skip_blank();
      if (reader_.is_at('(')) {
        reader_.skip_token();
        read_argument(word, is_condition);
        word = {};
      } else if (auto const next = reader_.read_word(); !next.empty()) {
        word = next;
        reader_.skip_rest_of_number();
      } else if (!reader_.is_at_line_end()) {
        reader_.skip_token();
        word = {};
      }
    }
  }

  void read_argument(std::string_view function, bool is_condition)
  {
    if (function.empty() || function == "defined") return;
    auto const is_named = function.starts_with("__has_include");
    reader_.skip_blank();
    if (reader_.is_at('<') || reader_.is_at('"'))
      read_name({.is_condition = true,
                 .is_certain = is_named,
                 .is_next = function == "__has_include_next"});
    else if (auto const macro = reader_.read_word(); !macro.empty() && (is_named || is_condition))
      directives_.macros.push_back(macro);
  }

  std::string_view text_;
  source_reader reader_;
  include_directives directives_;
};

}  // namespace

include_directives find_directives(std::string_view text)
{
  return scanner(text).scan();
}

}  // namespace fatlink::detail
