// SPDX-License-Identifier: Apache-2.0
#include "linker/check_calls.hpp"

#include <algorithm>
#include <map>

#include "linker/reachable_functions.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "ptx/lexer.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using statement = std::vector<std::string_view>;

/// Reads `mov.u64 %r, f; p : .callprototype …; call (…), %r, (…), p;`.
class call_reader {
 public:
  call_reader(std::string_view ptx, std::string_view name) : lexer_(ptx), name_(name) {}

  /// Calls by address: the function's name and the types of the call, in the order of the text.
  std::vector<std::pair<std::string, ptx_function>> read()
  {
    statement words;
    for (auto token = next(); token.kind != ptx::token_kind::end; token = next()) {
      auto const word = token.text;
      if (word == ":" && !words.empty()) label_ = words.back();
      if (word == ";") read_statement(words);
      if (word == "{" && begins_function(words)) begin_function();
      if (word == ";" || word == "{" || word == "}" || word == ":")
        words.clear();
      else if (words.size() < limits::k_statement_words)  // longer ones are initialisers
        words.push_back(word);
    }
    return std::move(calls_);
  }

 private:
  /// The next token that belongs to no `.loc` or the like.
  ptx::token next()
  {
    auto token = lexer_.next();
    while (ptx::unterminated_directive::begins_with(token)) {
      ptx::unterminated_directive directive(token);
      do token = lexer_.next();
      while (directive.takes(token));
    }
    return token;
  }

  static bool begins_function(statement const& words)
  {
    return std::any_of(words.begin(), words.end(),
                       [](std::string_view word) { return word == ".func" || word == ".entry"; });
  }

  /// Registers and labels are a function's own.
  void begin_function()
  {
    addresses_.clear();
    prototypes_.clear();
  }

  void read_statement(statement const& words)
  {
    if (words.size() < 2) return;
    if (words.size() == 5 && words[0] == "mov" && words[2].starts_with('%'))
      addresses_[words[2]] = words[4];
    if (words[0] == ".callprototype") prototypes_[label_] = read_prototype(words);
    if (words[0] == "call") read_call(words);
  }

  /// The types of a prototype, which is written as a function's declaration is.
  [[nodiscard]] ptx_function read_prototype(statement const& words) const
  {
    std::string text = ".version 8.0\n.extern .func";
    for (auto word = words.begin() + 1; word != words.end(); ++word) (text += ' ') += *word;
    auto const interface = read_ptx_interface(text + ";", name_);
    return interface.hooks.empty() ? ptx_function{} : interface.hooks.front();
  }

  void read_call(statement const& words)
  {
    auto const prototype = prototypes_.find(words.back());
    if (prototype == prototypes_.end()) return;
    auto const address = std::find_if(words.begin(), words.end(), [&](std::string_view word) {
      return addresses_.contains(word);
    });
    if (address == words.end()) return;
    auto const function = std::string(addresses_[*address]);
    calls_.emplace_back(function, prototype->second);
    calls_.back().second.name = function;
  }

  ptx::lexer lexer_;
  std::string_view name_;
  std::string_view label_;
  std::map<std::string_view, std::string_view> addresses_;  ///< by register
  std::map<std::string_view, ptx_function> prototypes_;     ///< by label
  std::vector<std::pair<std::string, ptx_function>> calls_;
};

/// The names that each input defines, in the order of the inputs.
std::vector<name_set> definitions_of(std::vector<fatbin> const& inputs, link_options const& options)
{
  std::vector<name_set> definitions;
  definitions.reserve(inputs.size());
  for (auto const& input : inputs)
    definitions.emplace_back(interface_of(input, choice_of(options)).definitions);
  return definitions;
}

/// `definitions`: of definitions_of().
finding mismatch(std::vector<fatbin> const& inputs, std::vector<name_set> const& definitions,
                 mismatched_call const& call)
{
  std::vector<std::string> files;
  for (std::size_t index = 0; index < inputs.size(); ++index)
    if (definitions[index].contains(call.definition.name)) files.push_back(inputs[index].name());
  auto const definer = files.empty() ? std::string("an input") : files.front();
  for (auto const& input : inputs)
    if (input.name() != definer) files.push_back(input.name());
  return {
      .id = finding_id::signature_mismatch,
      .severity = severity::error,
      .files = std::move(files),
      .symbol = call.definition.name,
      .message = detail::format("{} defines {}, and another input calls it as {}, the type of an "
                                "inline definition or declaration there",
                                definer, to_string(call.definition), to_string(call.call)),
      .hint = "define it with that type, or rename it; declare what is private static"};
}

}  // namespace

std::vector<mismatched_call> find_mismatched_calls(std::string_view ptx, std::string_view name)
{
  auto const interface = read_linked_interface(ptx, name);
  std::multimap<std::string_view, ptx_function const*> definitions;
  for (auto const& definition : interface.definitions)
    definitions.emplace(definition.name, &definition);
  std::vector<mismatched_call> mismatched;
  for (auto const& [function, call] : call_reader(ptx, name).read()) {
    auto const [begin, end] = definitions.equal_range(function);
    for (auto entry = begin; entry != end; ++entry)
      if (auto const& definition = *entry->second;
          !definition.is_variadic &&
          (definition.results != call.results || definition.parameters != call.parameters)) {
        mismatched.push_back({definition, call});
        definitions.erase(begin, end);  // each function once
        break;
      }
  }
  return mismatched;
}

std::vector<finding> check_calls(std::vector<fatbin> const& inputs, link_options const& options,
                                 std::string_view ptx)
{
  auto const calls = find_mismatched_calls(ptx, "the linked PTX");
  if (calls.empty()) return {};
  auto const definitions = definitions_of(inputs, options);
  std::vector<finding> findings;
  finding_limit mismatches(findings);
  for (auto const& call : calls)
    mismatches.add([&] { return mismatch(inputs, definitions, call); });
  mismatches.finish();
  return findings;
}

}  // namespace fatlink::detail
