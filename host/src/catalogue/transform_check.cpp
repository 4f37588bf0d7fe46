// SPDX-License-Identifier: Apache-2.0
#include "fatlink/transform_check.hpp"

#include <algorithm>
#include <optional>

#include "detail/format.hpp"
#include "detail/interface_queries.hpp"
#include "detail/nearest.hpp"
#include "detail/preflight_rules.hpp"

namespace fatlink {
namespace {

using detail::interface_of_any;
using fatbins = std::span<fatbin const>;

bool has_ptx(fatbin const& input)
{
  return detail::has_entry(input, entry_kind::ptx);
}

void sort_by_severity(std::vector<finding>& findings)
{
  std::stable_sort(findings.begin(), findings.end(),
                   [](finding const& a, finding const& b) { return a.severity > b.severity; });
}

/// Functions that `transform` defines and none of `inputs` calls.
std::vector<ptx_function> unused_functions(fatbins inputs, fatbin const& transform)
{
  auto const& definer = interface_of_any(transform);
  auto functions = detail::defined_functions(definer);
  std::erase_if(functions, [&](ptx_function const& function) {
    return std::any_of(inputs.begin(), inputs.end(), [&](fatbin const& input) {
      auto const& caller = interface_of_any(input);
      return &caller != &definer && detail::calls(caller, definer, function.name);
    });
  });
  return functions;
}

// A hook that the transforms leave open.

bool define_a_hook(fatbins transforms, ptx_interface const& library)
{
  return std::any_of(transforms.begin(), transforms.end(), [&](fatbin const& transform) {
    auto const functions = detail::defined_functions(interface_of_any(transform));
    return std::any_of(functions.begin(), functions.end(), [&](ptx_function const& function) {
      return detail::has_name(library.hooks, function.name);
    });
  });
}

/// Whether `transform` defines a variable named `hook`, or a function that nothing calls, whose
/// name resembles it: a mistake, rather than a hook for another transform.
bool resembles(std::vector<ptx_function> const& unused, fatbin const& transform,
               std::string const& hook)
{
  auto const& variables = interface_of_any(transform).variables;
  if (std::any_of(variables.begin(), variables.end(),
                  [&](ptx_variable const& variable) { return variable.name == hook; }))
    return true;
  return std::any_of(unused.begin(), unused.end(), [&](ptx_function const& function) {
    return detail::is_mangled(function.name, hook) ||
           !detail::nearest({function.name}, hook).empty();
  });
}

bool is_open_for_others(finding const& missing, std::vector<fatbin> const& inputs)
{
  auto const& library = inputs.front();
  auto const transforms = fatbins(inputs).subspan(1);
  return missing.id == "missing-hook" && missing.files == std::vector{library.name()} &&
         define_a_hook(transforms, interface_of_any(library)) &&
         std::none_of(transforms.begin(), transforms.end(), [&](fatbin const& transform) {
           return resembles(unused_functions(inputs, transform), transform, missing.symbol);
         });
}

// No library to judge with.

finding not_judged(fatbin const& transform, std::string const& cause, std::string const& remedy)
{
  return {.id = "not-judged",
          .severity = severity::error,
          .files = {transform.name()},
          .symbol = {},
          .message =
              detail::format("{} {}: whether it links cannot be judged", transform.name(), cause),
          .hint = detail::format("{}pass the library: fatlink check LIBRARY.fatbin {}", remedy,
                                 transform.name())};
}

finding lacks_ptx(fatbin const& transform)
{
  return not_judged(transform, "holds no PTX, so the functions that it defines are not known",
                    "compile it with nvcc -dlto -fatbin -arch=sm_75, and ");
}

finding lacks_contract_library(fatbin const& transform)
{
  auto const& stated = *transform.ident();
  auto const& package = stated.contract_package;
  return not_judged(
      transform,
      detail::format("is built against contract {}/{}, and no installed library has it",
                     stated.contract, stated.version),
      package.empty()
          ? std::string{}
          : detail::format("install package {}, or ", package.substr(0, package.find(' '))));
}

/// "did you mean user_transform, which apply_transform calls? "; empty: no name is similar.
std::string suggestion(std::span<installed_library const> libraries, ptx_function const& function)
{
  for (auto const& library : libraries)
    for (auto const& hook : detail::hooks_of(interface_of_any(library.contents)))
      if (detail::is_mangled(function.name, hook.name))
        return detail::format(
            "{} is the C++ name of {}, which {} calls: declare the definition "
            "extern \"C\". ",
            function.name, hook.name, library.name);
  for (auto const& library : libraries) {
    std::vector<std::string> hooks;
    for (auto const& hook : detail::hooks_of(interface_of_any(library.contents)))
      hooks.push_back(hook.name);
    auto const name = detail::nearest(hooks, function.name);
    if (!name.empty())
      return detail::format("did you mean {}, which {} calls? ", name, library.name);
  }
  return {};
}

finding unused_definition(std::span<installed_library const> libraries, fatbin const& transform,
                          std::vector<ptx_function> const& functions, severity level)
{
  std::string similar;
  for (auto const& function : functions)
    if (similar.empty()) similar = suggestion(libraries, function);
  return {
      .id = "unused-definition",
      .severity = level,
      .files = {transform.name()},
      .symbol = functions.front().name,
      .message = detail::format("{} defines {}, which no installed library calls", transform.name(),
                                detail::list_functions(functions)),
      .hint = detail::format("{}ass the library{}: fatlink check LIBRARY.fatbin {}",
                             similar.empty() ? "p" : similar + "Otherwise p",
                             similar.empty() ? " whose kernel calls it" : "", transform.name())};
}

finding only_variables(fatbin const& transform)
{
  auto const& name = interface_of_any(transform).variables.front().name;
  return {.id = "unused-definition",
          .severity = severity::error,
          .files = {transform.name()},
          .symbol = name,
          .message =
              detail::format("{} defines variables ({}) and no function", transform.name(), name),
          .hint = "define the hook as an extern \"C\" __device__ function"};
}

bool declares_hooks(fatbins inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), [](fatbin const& input) {
    return !detail::hooks_of(interface_of_any(input)).empty();
  });
}

std::optional<finding> judge_without(std::span<installed_library const> libraries, fatbins inputs,
                                     fatbin const& transform)
{
  if (!has_ptx(transform)) return lacks_ptx(transform);
  auto const& stated = transform.ident();
  if (stated && !stated->contract.empty()) return lacks_contract_library(transform);
  auto const& interface = interface_of_any(transform);
  if (detail::defined_functions(interface).empty() && !interface.variables.empty())
    return only_variables(transform);
  auto const functions = unused_functions(inputs, transform);
  if (functions.empty()) return {};  // preflight says that it defines nothing, or another calls it
  return unused_definition(libraries, transform, functions,
                           declares_hooks(inputs) ? severity::warning : severity::error);
}

}  // namespace

bool lacks_library(std::span<fatbin const> inputs)
{
  auto const has_kernel = [](fatbin const& input) {
    return !interface_of_any(input).kernels.empty();
  };
  if (std::any_of(inputs.begin(), inputs.end(), has_kernel)) return false;
  return std::all_of(inputs.begin(), inputs.end(), has_ptx) ||
         std::none_of(inputs.begin(), inputs.end(), has_ptx);
}

std::vector<finding> preflight_with(installed_library const& library,
                                    std::span<fatbin const> transforms,
                                    preflight_request const& request)
{
  std::vector inputs{library.contents};
  inputs.insert(inputs.end(), transforms.begin(), transforms.end());
  auto findings = preflight(inputs, request);
  for (auto& known : findings)
    if (is_open_for_others(known, inputs)) known.severity = severity::warning;
  sort_by_severity(findings);
  return findings;
}

std::vector<finding> preflight_without(std::span<installed_library const> libraries,
                                       std::span<fatbin const> transforms,
                                       preflight_request const& request)
{
  auto findings = preflight(transforms, request);
  for (auto const& transform : transforms)
    if (auto cause = judge_without(libraries, transforms, transform))
      findings.insert(findings.begin(), *std::move(cause));
  sort_by_severity(findings);
  return findings;
}

}  // namespace fatlink
