// SPDX-License-Identifier: Apache-2.0
#include "linker/compare_orders.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "linker/check_links.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "ptx/lexer.hpp"
#include "ptx/ptx_code.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Above this number of inputs, not each is linked in the first place: they are the members of one
/// author's archive, and the time of the links grows with the square of the number.
constexpr std::size_t k_most_first = 8;

constexpr char const* k_linked = "the linked PTX";

using code_map = std::map<std::string, std::string, std::less<>>;
using link_order = std::vector<fatbin const*>;

/// The orders besides that of `inputs`.
std::vector<link_order> other_orders(link_order const& inputs)
{
  std::vector<link_order> orders;
  if (inputs.size() > k_most_first) return {{inputs.rbegin(), inputs.rend()}};
  for (std::size_t first = 1; first < inputs.size(); ++first) {
    auto const place = static_cast<std::ptrdiff_t>(first);
    auto& order = orders.emplace_back(inputs);
    std::rotate(order.begin(), order.begin() + place, order.begin() + place + 1);
  }
  return orders;
}

class order_comparison {
 public:
  order_comparison(std::vector<fatbin> const& inputs, link_options const& options,
                   link_function const& link)
      : options_(options), link_(link), texts_(check_options(inputs, options))
  {
    for (auto const& input : inputs)
      if (linked_entry(input, choice_of(options))->kind == entry_kind::ltoir)
        order_.push_back(&input);
    ptx_ = unoptimized_link(order_, options_, texts_, link_);
  }

  /// The PTX of the inputs in the order in which they were passed.
  [[nodiscard]] std::string const& ptx() const { return ptx_; }

  /// weak-mismatch of each name whose code differs between two orders.
  std::vector<finding> find()
  {
    if (order_.size() < 2) return {};
    auto const given = read_ptx_code(ptx_, k_linked, name_scope::linked);
    for (auto const& other : other_orders(order_)) compare(given, other);
    std::vector<finding> findings;
    finding_limit mismatches(findings);
    for (auto& [name, difference] : differences_)
      mismatches.add([&difference = difference] { return std::move(difference); });
    mismatches.finish();
    return findings;
  }

 private:
  [[nodiscard]] code_map code_of(link_order const& order) const
  {
    return read_ptx_code(unoptimized_link(order, options_, texts_, link_), k_linked,
                         name_scope::linked);
  }

  void compare(code_map const& given, link_order const& other)
  {
    auto const code = code_of(other);
    for (auto const& [name, text] : code) {
      auto const same = given.find(name);
      if (same == given.end() || same->second == text || differences_.contains(name)) continue;
      auto const& first = definer(order_, given, name);
      auto const& second = definer(other, code, name);
      // The same one: nvJitLink chose other instructions for the same definition.
      if (&first != &second)
        differences_.emplace(name, weak_mismatch(name, first.name(), second.name()));
    }
  }

  /// The input of `order` whose definition of `name` the link chose: without it, the code is
  /// another one. Inputs with kernels cannot be left out; one of these is it if no other is.
  [[nodiscard]] fatbin const& definer(link_order const& order, code_map const& code,
                                      std::string const& name) const
  {
    fatbin const* rest = order.front();
    for (auto const* input : order) {
      if (!interface_of(*input, choice_of(options_)).kernels.empty()) {
        rest = input;
        continue;
      }
      auto others = order;
      std::erase(others, input);
      auto const without = code_of(others);
      auto const left = without.find(name);
      if (left == without.end() || left->second != code.find(name)->second) return *input;
    }
    return *rest;
  }

  link_options const& options_;
  link_function const& link_;
  std::vector<std::string> texts_;
  link_order order_;
  std::string ptx_;
  std::map<std::string, finding> differences_;
};

}  // namespace

std::vector<finding> compare_orders(std::vector<fatbin> const& inputs, link_options const& options,
                                    link_function const& link)
{
  if (options.mode != link_mode::lto || inputs.size() < 2) return {};
  order_comparison comparison(inputs, options, link);
  auto findings = check_calls(inputs, options, comparison.ptx());
  return findings.empty() ? comparison.find() : findings;
}

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
finding make_signature_mismatch(std::vector<fatbin> const& inputs,
                                std::vector<name_set> const& definitions,
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
      .hint = "define it with that type, or rename it; declare private definitions static"};
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
    mismatches.add([&] { return make_signature_mismatch(inputs, definitions, call); });
  mismatches.finish();
  return findings;
}

}  // namespace fatlink::detail
