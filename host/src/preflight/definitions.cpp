// SPDX-License-Identifier: Apache-2.0
// Finds inputs without effect: nvcc removed their functions, or nothing calls them.
// Source: nvcc 13.0. Without -dlto or -rdc=true it compiles a whole program, in which only kernels
// and what they call are kept; in every mode it removes static and inline functions that nothing
// in the same file calls.
#include <fmt/ranges.h>

#include <algorithm>

#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Whether the interface of `input` lists all that it holds.
bool is_readable(preflight_input const& input)
{
  return !input.is_opaque &&
         (has_entry(*input.file, entry_kind::ptx) || has_entry(*input.file, entry_kind::elf));
}

/// Whether its PTX shows no function, no variable and no hook.
bool defines_nothing(preflight_input const& input)
{
  auto const& interface = input.interface;
  return !input.is_opaque && has_entry(*input.file, entry_kind::ptx) &&
         defined_functions(interface).empty() && interface.variables.empty() &&
         hooks_of(interface).empty();
}

/// Whether `input` defines a missing hook, but not for other inputs; its finding says so.
bool hides_missing_hook(preflight_input const& input, std::vector<finding> const& findings)
{
  return std::any_of(findings.begin(), findings.end(), [&](finding const& entry) {
    return entry.id == finding_id::missing_hook && hides(input.interface, entry.symbol);
  });
}

/// Whether an input has kernels, or may have some.
bool has_kernel(preflight_inputs const& inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), [](preflight_input const& input) {
    return input.is_opaque || !input.interface.kernels.empty();
  });
}

finding removed_functions(fatbin const& input, severity level)
{
  return {.id = finding_id::removed_functions,
          .severity = level,
          .files = {input.name()},
          .message = detail::format("{} defines no device function: the device functions were "
                                    "removed, because it was compiled without -rdc=true or -dlto",
                                    input.name()),
          .hint =
              "compile with -dlto: nvcc -dlto -fatbin -arch=sm_75, with fatlink compile, or to "
              "PTX: nvcc -rdc=true -ptx"};
}

finding no_definition(fatbin const& input, severity level)
{
  return {
      .id = finding_id::no_definition,
      .severity = level,
      .files = {input.name()},
      .message = detail::format("{} defines no function that other files can call; nvcc "
                                "removes static and inline functions",
                                input.name()),
      .hint = "define the hook with a body, as extern \"C\" __device__, without static or inline"};
}

bool is_unused(symbol_index const& symbols, preflight_input const& input)
{
  auto const& interface = input.interface;
  if (!interface.kernels.empty()) return false;
  if (interface.definitions.empty() && interface.weak.empty()) return false;
  for (auto const& variable : interface.variables)
    if (symbols.find(variable.name).is_variable_declared) return false;
  auto const is_called = [&](std::vector<ptx_function> const& functions, symbol_role role) {
    return std::any_of(functions.begin(), functions.end(), [&](ptx_function const& function) {
      return symbols.find(function.name).is_called(role, input);
    });
  };
  return !is_called(interface.definitions, symbol_role::definition) &&
         !is_called(interface.weak, symbol_role::weak_definition);
}

/// Names of the hooks of all inputs, each once.
std::vector<std::string> hook_names(preflight_inputs const& inputs)
{
  std::vector<std::string> hooks;
  for (auto const& input : inputs)
    for (auto const& hook : input.interface.hooks)
      if (!hook.is_unused && !is_system_function(hook.name)) hooks.push_back(hook.name);
  std::sort(hooks.begin(), hooks.end());
  hooks.erase(std::unique(hooks.begin(), hooks.end()), hooks.end());
  return hooks;
}

/// `hooks`: of all inputs.
finding unused_input(std::vector<std::string> const& hooks, preflight_input const& input)
{
  auto const functions = defined_functions(input.interface);
  return {.id = finding_id::unused_input,
          .severity = severity::warning,
          .files = {input.file->name()},
          .symbol = functions.front().name,
          .message = detail::format("{} defines {}, which no other input calls", input.file->name(),
                                    list_functions(functions)),
          .hint = hooks.empty() ? "no input calls a hook: pass the library whose kernel calls it"
                                : detail::format("leave it out, or define a hook of the inputs: {}",
                                                 list_names(hooks))};
}

finding compared_by_link(fatbin const& input, ptx_function const& function)
{
  return {.id = finding_id::compared_by_link,
          .severity = severity::warning,
          .files = {input.name()},
          .symbol = function.name,
          .message = detail::format(
              "{} defines {}, which the PTX of the other inputs does not mention; if nvcc inlined "
              "a function of that name, only the link compares the types",
              input.name(), to_string(function)),
          .hint = "declare it static if it is private, or link to compare it"};
}

}  // namespace

std::string list_functions(std::vector<ptx_function> const& functions)
{
  constexpr std::size_t k_most_listed = 3;
  std::vector<std::string> texts;
  for (auto const& function : functions)
    if (texts.size() < k_most_listed) texts.push_back(to_string(function));
  auto const unlisted = functions.size() - texts.size();
  return detail::format("{}{}", fmt::join(texts, ", "),
                        unlisted == 0 ? std::string{} : detail::format(" and {} more", unlisted));
}

void check_definitions(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  auto const misses_hook = std::any_of(findings.begin(), findings.end(), [](finding const& entry) {
    return entry.id == finding_id::missing_hook;
  });
  auto const level = misses_hook || !has_kernel(inputs) ? severity::error : severity::warning;
  std::vector<finding> causes;
  for (auto const& input : inputs) {
    if (!defines_nothing(input) || hides_missing_hook(input, findings)) continue;
    auto const is_removed = !has_entry(*input.file, entry_kind::ltoir);
    if (input.interface.kernels.empty())
      causes.push_back((is_removed ? removed_functions : no_definition)(*input.file, level));
    else if (is_removed && misses_hook)
      causes.push_back(removed_functions(*input.file, level));
  }
  // These explain a missing hook, so they come before it.
  findings.insert(findings.begin(), causes.begin(), causes.end());
}

void check_replacements(preflight_inputs const& inputs, symbol_index const& symbols,
                        preflight_request const& request, std::vector<finding>& findings)
{
  if (request.mode != link_mode::lto || inputs.size() < 2 || !has_kernel(inputs)) return;
  finding_limit replaceable(findings);
  for (auto const& input : inputs)
    for (auto const& function : input.interface.definitions)
      if (!function.name.starts_with("_Z") && !symbols.find(function.name).is_in_other(input))
        replaceable.add([&] { return compared_by_link(*input.file, function); });
  replaceable.finish();
}

void check_unused(preflight_inputs const& inputs, symbol_index const& symbols,
                  std::vector<finding>& findings)
{
  if (!has_kernel(inputs) || !std::all_of(inputs.begin(), inputs.end(), is_readable)) return;
  auto const hooks = hook_names(inputs);
  finding_limit unused(findings);
  for (auto const& input : inputs)
    if (is_unused(symbols, input)) unused.add([&] { return unused_input(hooks, input); });
  unused.finish();
}

}  // namespace fatlink::detail
