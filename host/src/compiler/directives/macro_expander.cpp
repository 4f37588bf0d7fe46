// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/macro_expander.hpp"

#include <algorithm>
#include <optional>

#include "compiler/directives/directive_text.hpp"

namespace fatlink::detail {
namespace {

constexpr int k_deepest = 12;
constexpr std::size_t k_most_texts = 1024;
constexpr std::size_t k_longest_text = 1024;
constexpr int k_most_nested = 512;  ///< a kilobyte of stack each
constexpr char const* k_rest = "__VA_ARGS__";

/// The first word of `text`, literal, "##", or other letter.
std::string_view first_token(std::string_view text)
{
  if (text.starts_with("##")) return text.substr(0, 2);
  std::size_t size = 1;
  if (text.front() == '"')
    size = std::min(text.find('"', 1), text.size() - 1) + 1;
  else if (is_word_letter(text.front()))
    size = static_cast<std::size_t>(std::ranges::find_if_not(text, is_word_letter) - text.begin());
  return text.substr(0, size);
}

/// "(a, b(c, d))…": the arguments and the size; nothing if `text` has none.
struct argument_list {
  std::vector<std::string_view> arguments = {};
  std::size_t size = 0;
};
std::optional<argument_list> read_arguments(std::string_view text)
{
  auto const open = text.find_first_not_of(k_blank);
  if (open == std::string_view::npos || text[open] != '(') return std::nullopt;
  argument_list list;
  int depth = 0;
  auto start = open + 1;
  for (auto i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth == 0 || (depth == 1 && text[i] == ',')) {
      list.arguments.push_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
    if (depth > 0) continue;
    list.size = i + 1;
    return list;
  }
  return std::nullopt;
}

std::string_view last_word(std::string_view text)
{
  auto const word = std::find_if_not(text.rbegin(), text.rend(), is_word_letter) - text.rbegin();
  return text.substr(text.size() - static_cast<std::size_t>(word));
}

bool is_blank_token(std::string_view token)
{
  return k_blank.find(token.front()) != std::string_view::npos;
}

/// The argument of the parameter `name`; nothing if there is none.
std::optional<std::string_view> argument_of(std::vector<std::string> const& parameters,
                                            std::vector<std::string_view> const& arguments,
                                            std::string_view name)
{
  auto const place = std::ranges::find(parameters, name);
  auto const index = static_cast<std::size_t>(place - parameters.begin());
  if (place == parameters.end() || index >= arguments.size()) return std::nullopt;
  if (name != k_rest) return arguments[index];
  auto const* const first = arguments[index].data();
  auto const last = arguments.back();
  return std::string_view(first, static_cast<std::size_t>(last.data() + last.size() - first));
}

std::vector<std::string> split_parameters(std::string_view text)
{
  std::vector<std::string> names;
  while (!text.empty()) {
    auto const end = std::min(text.find(','), text.size());
    names.emplace_back(trimmed(text.substr(0, end)));
    if (names.back() == "...") names.back() = k_rest;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

bool macro_expander::add(macro_definition const& definition)
{
  macro entry{.is_function = definition.is_function,
              .parameters = split_parameters(definition.parameters),
              .value = definition.value};
  auto const is_new = definitions_[std::string(definition.name)].insert(std::move(entry)).second;
  if (is_new) ++count_;
  return is_new;
}

macro_expander::texts macro_expander::expand(std::string_view text, texts& words)
{
  is_incomplete_ = false;
  words_ = &words;
  return expand_text(text, 0);
}

bool macro_expander::may_make_text()
{
  if (texts_left_ > 0) return texts_left_-- > 0;
  is_incomplete_ = true;
  return false;
}

/// Each of `heads` followed by each of `tails`, up to the limits.
macro_expander::texts macro_expander::join(texts const& heads, texts const& tails)
{
  texts joined;
  for (auto const& head : heads)
    for (auto const& tail : tails) {
      if (joined.size() == k_most_texts) is_incomplete_ = true;
      if (joined.size() == k_most_texts || !may_make_text()) return joined;
      if (head.size() + tail.size() <= k_longest_text)
        joined.insert(head + tail);
      else
        is_incomplete_ = true;
    }
  return joined;
}

macro_expander::texts macro_expander::expand_text(std::string_view text, int depth)
{
  texts heads{""};
  if (nesting_ >= k_most_nested) is_incomplete_ = true;
  if (nesting_ >= k_most_nested) return heads;
  while (!text.empty()) {
    auto const token = first_token(text);
    text.remove_prefix(token.size());
    if (!is_word_letter(token.front())) {
      heads = join(heads, {std::string(token)});
      continue;
    }
    // A macro may take what follows it as its arguments, so it decides about the rest.
    if (definitions_.contains(token) && std::ranges::count(active_, token) == 0)
      return join(heads, expand_word(token, text, depth));
    words_->emplace(token);
    heads = join(heads, {std::string(token)});
  }
  return heads;
}

/// The macro `word`, and `tail` after it, in each of their forms.
macro_expander::texts macro_expander::expand_word(std::string_view word, std::string_view tail,
                                                  int depth)
{
  words_->emplace(word);
  ++nesting_;
  texts values;
  texts results;
  auto const list = read_arguments(tail);
  texts calls;
  if (depth >= k_deepest) is_incomplete_ = true;
  for (auto const& entry : definitions_.find(word)->second) {
    if (depth >= k_deepest || !may_make_text()) break;
    if (!entry.is_function)
      values.merge(expand_value(word, entry.value, depth + 1));
    else if (list)
      for (auto const& text : substitute(entry, list->arguments, depth))
        calls.merge(expand_value(word, text, depth + 1));
    else
      values.emplace(word);
  }
  if (values.empty() && calls.empty()) values.emplace(word);
  if (!values.empty()) results = expand_tail(word, values, tail, depth);
  if (!calls.empty()) results.merge(expand_tail(word, calls, tail.substr(list->size), depth));
  --nesting_;
  return results;
}

/// `values` of `name` and what follows them: the arguments of a macro that a value ends with, or
/// other text.
macro_expander::texts macro_expander::expand_tail(std::string_view name, texts const& values,
                                                  std::string_view tail, int depth)
{
  auto const has_arguments = read_arguments(tail).has_value();
  texts results;
  texts others;
  for (auto const& value : values) {
    auto const word = last_word(value);
    if (word != name && depth < k_deepest && has_arguments && takes_arguments(word) &&
        std::ranges::count(active_, word) == 0)
      results.merge(
          join({value.substr(0, value.size() - word.size())}, expand_word(word, tail, depth + 1)));
    else
      others.insert(value);
  }
  if (!others.empty()) results.merge(join(others, expand_text(tail, depth)));
  return results;
}

bool macro_expander::takes_arguments(std::string_view word) const
{
  auto const known = definitions_.find(word);
  return known != definitions_.end() &&
         std::ranges::any_of(known->second, [](macro const& entry) { return entry.is_function; });
}

macro_expander::texts macro_expander::expand_value(std::string_view word, std::string_view value,
                                                   int depth)
{
  active_.push_back(word);
  auto expanded = expand_text(value, depth);
  active_.pop_back();
  return expanded;
}

/// The value of `called` with its arguments in place.
macro_expander::texts macro_expander::substitute(macro const& called,
                                                 std::vector<std::string_view> const& arguments,
                                                 int depth)
{
  texts results{""};
  std::string_view value = called.value;
  bool is_pasted = false;
  while (!value.empty()) {
    auto const token = first_token(value);
    value.remove_prefix(token.size());
    auto const next = value.substr(std::min(value.find_first_not_of(k_blank), value.size()));
    if (token == "##") {
      is_pasted = true;
      continue;
    }
    if (is_blank_token(token) && (is_pasted || next.starts_with("##"))) continue;
    auto const name = token == "#" && !next.empty() ? first_token(next) : token;
    auto const argument = argument_of(called.parameters, arguments, name);
    if (argument && token == "#") {
      value = next.substr(name.size());
      results = join(results, {'"' + std::string(*argument) + '"'});
    } else if (!argument) {
      results = join(results, {std::string(token)});
    } else if (is_pasted || next.starts_with("##")) {
      results = join(results, {std::string(*argument)});
    } else {
      results = join(results, expand_text(*argument, depth + 1));
    }
    is_pasted = false;
  }
  return results;
}

}  // namespace fatlink::detail
