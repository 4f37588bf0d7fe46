// SPDX-License-Identifier: Apache-2.0
#include "compiler/contract/hook_macros.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "preflight/contracts.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// A macro, and the contracts that declare the hook it defines: "keep_N" for keep_1 to keep_32.
struct hook_macro {
  std::string_view name;
  std::string_view parameters;
  std::string_view hook;
  std::array<std::string_view, 2> contracts;
};

constexpr std::array k_hook_macros{
    hook_macro{"FATLINK_COMBINE", "type, a, b", "combine", {"combine_N", "load_combine_N"}},
    hook_macro{"FATLINK_LOAD", "type, from, x", "load", {"load_combine_N"}},
    hook_macro{"FATLINK_KEEP", "type, x", "keep", {"keep_N", "keep_store_N"}},
    hook_macro{"FATLINK_STORE", "to, type, x", "store", {"keep_store_N"}},
    hook_macro{"FATLINK_LESS", "type, a, b", "less", {"less_N"}},
    hook_macro{"FATLINK_BIN", "type, x", "bin", {"bin_N"}},
    hook_macro{"FATLINK_MAP1", "to, from, x", "map_element", {"map1"}},
    hook_macro{"FATLINK_MAP2", "to, from1, a, from2, b", "map_element", {"map2"}},
    hook_macro{"FATLINK_MAP3", "to, from1, a, from2, b, from3, c", "map_element", {"map3"}},
};

constexpr std::string_view k_macro_prefix = "FATLINK_";

bool is_macro_letter(char c)
{
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The first word of `log` that begins as the macros do; empty where there is none.
std::string_view first_macro(std::string_view log)
{
  for (auto place = log.find(k_macro_prefix); place != log.npos;
       place = log.find(k_macro_prefix, place + 1)) {
    auto const rest = log.substr(place);
    auto const end = std::ranges::find_if_not(rest, is_macro_letter);
    auto const word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    auto const is_own = word.starts_with("FATLINK_ELEMENT") || word.starts_with("FATLINK_DETAIL") ||
                        word.starts_with("FATLINK_CONTRACT");
    if (!is_own && (place == 0 || !is_macro_letter(log[place - 1]))) return word;
  }
  return {};
}

std::string macro_text(hook_macro const& macro)
{
  return detail::format("{}({}) {{ … }}", macro.name, macro.parameters);
}

/// "combine_N" for combine_4, "map1" for map1.
std::string pattern_of(std::string const& contract)
{
  auto const sized = split_size(contract);
  return sized ? detail::format("{}_N", sized->base) : contract;
}

bool declares(installed_contract const& contract, hook_macro const& macro)
{
  auto const is_known = std::ranges::any_of(k_hook_macros, [&](hook_macro const& other) {
    return std::ranges::find(other.contracts, pattern_of(contract.name)) != other.contracts.end();
  });
  if (is_known)
    return std::ranges::find(macro.contracts, pattern_of(contract.name)) != macro.contracts.end();
  return std::ranges::find(contract.hooks, macro.hook) != contract.hooks.end();
}

/// "keep_4 and keep_store_4": of the size of `contract`, where it has one.
std::string contracts_of(hook_macro const& macro, installed_contract const* contract)
{
  auto const sized = contract == nullptr ? std::nullopt : split_size(contract->name);
  std::string list;
  for (auto const contract_name : macro.contracts) {
    if (contract_name.empty()) continue;
    std::string name(contract_name);
    if (sized && name.ends_with("_N")) name.replace(name.size() - 1, 1, sized->bytes);
    list += (list.empty() ? "" : " and ") + name;
  }
  return list;
}

std::string unknown_macro_hint(std::string_view word)
{
  std::vector<std::string> names;  // without the prefix, which makes all words similar
  for (auto const& macro : k_hook_macros)
    names.emplace_back(macro.name.substr(k_macro_prefix.size()));
  auto const similar = nearest(names, word.substr(k_macro_prefix.size()));
  auto const place =
      std::ranges::find(k_hook_macros, std::string(k_macro_prefix) + similar, &hook_macro::name);
  if (place == k_hook_macros.end()) return {};
  return detail::format("unknown macro {}; did you mean {}?", word, macro_text(*place));
}

/// From "pair has 8 bytes: use the contract combine_8".
std::string size_hint_of(std::string_view log)
{
  constexpr std::string_view k_mark = "use the contract ";
  auto const place = log.find(k_mark);
  if (place == log.npos) return {};
  auto const rest = log.substr(place + k_mark.size());
  auto const contract = rest.substr(0, rest.find_first_of("\"\n"));
  auto const sized = split_size(contract);
  if (!sized) return {};
  return detail::format(
      "pass a library for elements of {} bytes, which has the contract {}; without a library state "
      "that contract (<compile_options::contract>)",
      sized->bytes, contract);
}

}  // namespace

std::string macro_hint(std::string_view log, installed_contract const* contract)
{
  if (auto hint = size_hint_of(log); !hint.empty()) return hint;
  auto const word = first_macro(log);
  if (word.empty()) return {};
  auto const macro = std::ranges::find(k_hook_macros, word, &hook_macro::name);
  if (macro == k_hook_macros.end()) return unknown_macro_hint(word);
  if (contract != nullptr && declares(*contract, *macro)) return {};
  return detail::format(
      "{} defines {}, a hook of {}{}: pass a library with {}, or state the contract "
      "(<compile_options::contract>)",
      macro->name, macro->hook, contracts_of(*macro, contract),
      contract == nullptr
          ? std::string{}
          : detail::format(", and the source is compiled for {}", contract->title()),
      macro->contracts[1].empty() ? "it" : "one of them");
}

std::string other_contract_hint(std::string_view function, installed_contract const& contract)
{
  auto const macro = std::ranges::find(k_hook_macros, function, &hook_macro::hook);
  if (macro == k_hook_macros.end() || declares(contract, *macro)) return {};
  return detail::format("{} is a hook of {}: pass a library with {}", function,
                        contracts_of(*macro, &contract),
                        macro->contracts[1].empty() ? "it" : "one of them");
}

std::string macro_of(std::string_view hook, installed_contract const& contract)
{
  for (auto const& macro : k_hook_macros)
    if (macro.hook == hook && declares(contract, macro)) return macro_text(macro);
  return {};
}

}  // namespace fatlink::detail
