// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/include_lines.hpp"

#include <algorithm>
#include <optional>

#include "compiler/directives/directive_text.hpp"
#include "compiler/directives/source_reader.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_longest_value = 1024;
constexpr std::size_t k_longest_use = 1024;

/// Of calls of macros that join names of headers.
bool is_call_letter(char letter)
{
  return is_header_letter(letter) ||
         std::string_view("<>\"#(), \t").find(letter) != std::string_view::npos;
}

/// Whether `value` may be the name of a header, a part of one, or a test for one: "<a.h>",
/// "\"a.h\"", "a/b-c.h", "TEXT(a.h)", "#x", "(defined(X) && __has_include(<a.h>))".
bool may_name_header(std::string_view value)
{
  if (value.empty() || value.size() > k_longest_value) return false;
  if (value.find(k_has_include) != std::string_view::npos) return true;
  if (value.front() == '<' && value.find('>') == value.size() - 1) return true;
  if (value.front() == '"' && value.find('"', 1) == value.size() - 1) return true;
  if (may_be_header(value)) return true;
  return value.find_first_of("#(") != std::string_view::npos &&
         std::ranges::all_of(value, is_call_letter);
}

class scanner {
 public:
  explicit scanner(std::string_view text)
      : joined_(std::make_shared<joined_text const>(text)), text_(joined_->view()), reader_(text_)
  {
  }

  include_directives scan()
  {
    while (!reader_.is_at_end() && directives_.is_complete) {
      reader_.skip_blank();
      if (reader_.skip_hash()) {
        read_directive();
        reader_.skip_line();
      } else {
        reader_.skip_text_line();
      }
    }
    directives_.text = joined_;
    return std::move(directives_);
  }

 private:
  void read_directive()
  {
    reader_.skip_blank();
    auto const start = reader_.position();
    auto const directive = reader_.read_word();
    if (directive == "define") read_definition();
    if (directive == "include") read_include({});
    if (directive == "include_next")
      read_include({.is_next = true, .word = joined_->range_of(start, directive.size())});
    if (directive == "if" || directive == "elif") read_arguments({.is_condition = true});
  }

  template <typename Directive>
  void add(std::vector<Directive>& list, Directive const& directive)
  {
    if (list.size() < k_most_directives)
      list.push_back(directive);
    else
      directives_.is_complete = false;
  }

  void read_include(include_line kind)
  {
    reader_.skip_blank();
    if (reader_.is_at('<') || reader_.is_at('"'))
      read_name(kind);
    else
      (void)read_use({});
  }

  /// The name at '<' or '"', as `kind` describes it.
  void read_name(include_line kind)
  {
    kind.is_quoted = reader_.is_at('"');
    auto const start = reader_.position() + 1;
    kind.name = reader_.read_header_name();
    if (kind.name.empty()) return;
    kind.range = joined_->range_of(start, kind.name.size());
    add(directives_.includes, kind);
  }

  /// A macro, with its arguments if it has some, and those of the macro that it may expand to.
  /// Returns its name; only that is skipped.
  std::string_view read_use(macro_use kind)
  {
    auto const start = reader_.position();
    auto const name = reader_.read_word();
    if (name.empty() || is_decimal(name.front())) return name;
    auto size = name.size();
    std::optional<std::size_t> arguments = 1;
    while (arguments.value_or(0) > 0 && size < k_longest_use)
      size += (arguments = arguments_size(start + size)).value_or(0);
    kind.is_cut = !arguments || size >= k_longest_use;
    kind.text = text_.substr(start, size);
    kind.range = joined_->range_of(start, size);
    add(directives_.uses, kind);
    return name;
  }

  /// The size of "(…)" at `position`, with blanks before it; 0: there is none. Nothing: it is
  /// longer than the limit.
  [[nodiscard]] std::optional<std::size_t> arguments_size(std::size_t position) const
  {
    auto const rest = text_.substr(position, k_longest_use);
    auto const line = rest.substr(0, rest.find('\n'));
    auto const open = line.find_first_not_of(k_blank);
    if (open == std::string_view::npos || line[open] != '(') return 0;
    int depth = 0;
    for (auto i = open; i < line.size(); ++i) {
      if (line[i] == '"') i = std::min(line.find('"', i + 1), line.size() - 1);
      depth += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
      if (depth == 0) return i + 1;
    }
    if (line.size() == k_longest_use) return std::nullopt;
    return 0;
  }

  /// "NAME VALUE" and "NAME(…) VALUE".
  void read_definition()
  {
    reader_.skip_blank();
    macro_definition definition{.name = reader_.read_word()};
    if (definition.name.empty()) return;
    if (reader_.is_at('(')) {
      auto const start = reader_.position();
      auto const size = arguments_size(start).value_or(0);
      definition.is_function = true;
      definition.parameters = text_.substr(start + 1, std::max<std::size_t>(size, 2) - 2);
      reader_.skip(size);
    }
    auto copy = reader_;
    definition.value = trimmed(copy.read_line(k_longest_value + 1));
    if (may_name_header(definition.value)) add(directives_.definitions, definition);
    read_arguments({.is_definition = true});
  }

  /// What the line passes to __has_include, or to a macro that may call it: headers, and in a
  /// condition macros. "defined(NAME)" names none.
  void read_arguments(include_line const& kind)
  {
    word function;
    while (!reader_.is_at_line_end() && directives_.is_complete) {
      reader_.skip_blank();
      if (reader_.is_at('(') || (kind.is_condition && reader_.is_at(','))) {
        reader_.skip_token();
        function = read_argument(function, kind);
      } else if (auto const start = reader_.position(); is_at_call(kind)) {
        function = {read_use({.is_condition = true, .is_call = true}), start};
      } else if (auto const next = reader_.read_word(); !next.empty()) {
        function = {next, start};
        reader_.skip_rest_of_number();
      } else if (!reader_.is_at_line_end()) {
        reader_.skip_token();
        function = {};
      }
    }
  }

  struct word {
    std::string_view text = {};
    std::size_t position = 0;
  };

  /// Whether a macro of a condition follows, which may expand to __has_include.
  [[nodiscard]] bool is_at_call(include_line const& kind) const
  {
    if (!kind.is_condition) return false;
    auto copy = reader_;
    auto const name = copy.read_word();
    return !name.empty() && !is_decimal(name.front()) && name != "defined" &&
           !name.starts_with(k_has_include);
  }

  /// Returns the word of the argument, which may be the name of a macro with arguments.
  word read_argument(word const& function, include_line kind)
  {
    reader_.skip_blank();
    if (function.text == "defined") {
      (void)reader_.read_word();
      return {};
    }
    kind.is_certain = function.text.starts_with(k_has_include);
    kind.is_next = function.text == "__has_include_next";
    if (kind.is_next) kind.word = joined_->range_of(function.position, function.text.size());
    auto const start = reader_.position();
    if (reader_.is_at('<') || reader_.is_at('"')) {
      if (!kind.is_definition || !function.text.empty()) read_name(kind);
      return {};
    }
    if (!kind.is_condition || function.text.empty()) return {};
    auto const name = read_use({.is_condition = true, .is_certain = kind.is_certain});
    return {name, start};
  }

  std::shared_ptr<joined_text const> joined_;
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
