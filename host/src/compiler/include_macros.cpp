// SPDX-License-Identifier: Apache-2.0
#include "compiler/include_macros.hpp"

#include <algorithm>
#include <cctype>

namespace fatlink::detail {
namespace {

using names = std::set<std::string>;
using macro_values = std::map<std::string, names, std::less<>>;

constexpr int k_deepest = 8;
constexpr std::size_t k_most_names = 16;
constexpr std::size_t k_longest_name = 256;

bool is_word_letter(char letter)
{
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

class expander {
 public:
  expander(macro_values const& values, int& texts_left) : values_(values), texts_left_(texts_left)
  {
  }

  /// The headers that `macro` may name.
  names headers_of(std::string_view macro, int depth = 0)
  {
    names headers;
    for (auto const& value : values_of(macro, depth)) {
      auto const inner = std::string_view(value).substr(1, value.size() - 2);
      if (value.front() == '"')
        headers.emplace(inner);
      else if (value.front() == '<')
        headers.merge(expand(inner, depth + 1));
      else
        headers.merge(headers_of(value, depth + 1));
      if (headers.size() >= k_most_names) break;
    }
    return headers;
  }

 private:
  /// Empty if `macro` is none, or at a limit.
  names const& values_of(std::string_view macro, int depth)
  {
    static names const none;
    auto const values = values_.find(macro);
    if (values == values_.end() || depth > k_deepest || !may_make_text()) return none;
    return values->second;
  }

  bool may_make_text() { return texts_left_ > 0 && texts_left_-- > 0; }

  /// Each of `heads` followed by each of `tails`, up to the limits.
  names join(names const& heads, names const& tails)
  {
    names joined;
    for (auto const& head : heads)
      for (auto const& tail : tails) {
        if (joined.size() == k_most_names || !may_make_text()) return joined;
        if (head.size() + tail.size() <= k_longest_name) joined.insert(head + tail);
      }
    return joined;
  }

  /// `text` with each of its words expanded.
  names expand(std::string_view text, int depth)
  {
    names expanded{""};
    while (!text.empty()) {
      auto const is_word = is_word_letter(text.front());
      auto const* const end = std::find_if(
          text.begin(), text.end(), [&](char letter) { return is_word_letter(letter) != is_word; });
      std::string const part(text.begin(), end);
      expanded = join(expanded, is_word ? expand_word(part, depth) : names{part});
      text.remove_prefix(part.size());
    }
    return expanded;
  }

  /// The values of the macro `word`; itself, if it is none.
  names expand_word(std::string const& word, int depth)
  {
    names expanded;
    for (auto const& value : values_of(word, depth)) {
      if (value.front() != '<' && value.front() != '"') expanded.merge(expand(value, depth + 1));
      if (expanded.size() >= k_most_names) break;
    }
    return expanded.empty() ? names{word} : expanded;
  }

  macro_values const& values_;
  int& texts_left_;
};

}  // namespace

void include_macros::add(include_directives const& directives)
{
  for (auto const macro : directives.macros) included_.emplace(macro);
  for (auto const& definition : directives.definitions)
    values_[std::string(definition.name)].emplace(definition.value);
}

std::vector<std::string> include_macros::header_names()
{
  names all;
  expander macros(values_, texts_left_);
  for (auto const& macro : included_) all.merge(macros.headers_of(macro));
  return {all.begin(), all.end()};
}

}  // namespace fatlink::detail
