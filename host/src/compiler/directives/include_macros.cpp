// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/include_macros.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/directives/directive_text.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_call = std::size_t{1} << 40;  ///< added to the numbers of calls

/// The words of `text`, sorted, each once.
std::vector<std::string_view> words_of(std::string_view text)
{
  std::vector<std::string_view> words;
  while (!text.empty()) {
    auto const* const first = std::ranges::find_if(text, is_word_letter);
    auto const* const end = std::find_if_not(first, text.end(), is_word_letter);
    if (first != end) words.emplace_back(first, end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/// "<a.h>" and "\"a.h\"".
std::optional<include_macros::header_name> literal_name(std::string_view text)
{
  text = trimmed(text);
  if (text.size() < 3) return std::nullopt;
  auto const end = text.front() == '<' ? '>' : '"';
  if ((text.front() != '<' && text.front() != '"') || text.find(end, 1) != text.size() - 1)
    return std::nullopt;
  return include_macros::header_name{std::string(text.substr(1, text.size() - 2)), end == '"'};
}

/// The headers that `text` names: itself, or in its calls of __has_include.
std::vector<include_macros::header_name> names_in(std::string_view text)
{
  std::vector<include_macros::header_name> names;
  if (auto name = literal_name(text)) names.push_back(std::move(*name));
  for (auto place = text.find(k_has_include); place != std::string_view::npos;
       place = text.find(k_has_include, place + 1)) {
    auto const open = text.find('(', place);
    auto const close = text.find(')', place);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    if (auto name = literal_name(text.substr(open + 1, close - open - 1)))
      names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace

void include_macros::add(include_directives const& directives)
{
  for (auto const& definition : directives.definitions) add_definition(definition);
  for (auto const& directive : directives.uses) add_use(directive);
}

void include_macros::add_definition(macro_definition const& definition)
{
  if (!expander_.add(definition)) return;
  auto const& macro = *names_.emplace(definition.name).first;
  changed_.insert(macro);
  bool is_test = false;
  for (auto const word : words_of(definition.value))
    if (word.starts_with(k_has_include) || testing_.contains(word))
      is_test = true;
    else
      users_[std::string(word)].push_back(&macro);
  if (is_test) mark_testing(macro);
}

/// The macro expands to __has_include, and so do those that have it in their values.
void include_macros::mark_testing(std::string const& macro)
{
  std::vector<macro_name> list{&macro};
  while (!list.empty()) {
    auto const& entry = *list.back();
    list.pop_back();
    if (!testing_.insert(entry).second) continue;
    if (auto const calls = calls_of_.find(entry); calls != calls_of_.end())
      for (auto const call : calls->second) waiting_.insert(k_call + call);
    if (auto const users = users_.find(entry); users != users_.end())
      list.insert(list.end(), users->second.begin(), users->second.end());
  }
}

void include_macros::add_use(macro_use const& directive)
{
  use entry{.text = std::string(directive.text),
            .is_checked = directive.is_condition && directive.is_certain,
            .is_cut = directive.is_cut};
  if (!directive.is_call) {
    waiting_.insert(uses_.size());
    uses_.push_back(std::move(entry));
    return;
  }
  if (!call_texts_.insert(entry.text).second) return;
  auto const end = std::ranges::find_if_not(entry.text, is_word_letter);
  std::string const name(entry.text.begin(), end);
  calls_of_[name].push_back(calls_.size());
  if (testing_.contains(name)) waiting_.insert(k_call + calls_.size());
  calls_.push_back(std::move(entry));
}

/// What names a macro that was defined is expanded again.
void include_macros::wait_for_changed()
{
  for (auto const& macro : std::exchange(changed_, {}))
    if (auto const uses = dependents_.find(macro); uses != dependents_.end())
      waiting_.insert(uses->second.begin(), uses->second.end());
}

std::vector<include_macros::use_number> include_macros::expand()
{
  wait_for_changed();
  std::vector<use_number> changed;
  for (auto const number : std::exchange(waiting_, {})) {
    auto const is_call = number >= k_call;
    auto& subject = is_call ? calls_[number - k_call] : uses_[number];
    if (!expand(subject, number)) continue;
    if (is_call)
      condition_headers_.insert(subject.headers.begin(), subject.headers.end());
    else
      changed.push_back(number);
  }
  return changed;
}

/// Returns whether it names new headers.
bool include_macros::expand(use& subject, std::size_t number)
{
  macro_expander::texts words;
  auto const count = subject.headers.size();
  for (auto const& text : expander_.expand(subject.text, words))
    for (auto& name : names_in(text)) subject.headers.insert(std::move(name));
  subject.is_incomplete = expander_.is_incomplete() || subject.is_cut;
  for (auto const& word : words) dependents_[word].insert(number);
  return subject.headers.size() > count;
}

std::string include_macros::unresolved() const
{
  for (auto const* const list : {&uses_, &calls_})
    for (auto const& entry : *list)
      if (entry.is_checked && entry.is_incomplete) return entry.text;
  return {};
}

}  // namespace fatlink::detail
