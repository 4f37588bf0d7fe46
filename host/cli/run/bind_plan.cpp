// SPDX-License-Identifier: Apache-2.0
#include "run/bind_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/source.hpp"
#include "input/find_sidecar.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_plan.hpp"
#include "preflight/symbols.hpp"
#include "verification/check_references.hpp"

namespace fatlink::cli {
namespace {

/// Why the .json beside a transform states no reference; empty: there is none.
std::string explain_unused(input const& file)
{
  auto const other = detail::sidecar_path(file.name());
  if (detail::sidecar_of(file)) return {};
  if (detail::read_own_sidecar(other))
    return fmt::format("{} is the .json of a file other than {}", other.string(), file.name());
  if (is_source_name(file.name()) && std::filesystem::exists(other))
    return fmt::format("{} states no reference", other.string());
  return {};
}

/// Whether its PTX or SASS shows its functions.
bool shows_functions(fatbin const& module)
{
  return std::ranges::any_of(module.entries(),
                             [](fatbin_entry const& entry) { return shows_interface(entry); });
}

/// The functions that the modules call and may not define, and the weak ones.
std::set<std::string> called_functions(std::span<fatbin const> modules)
{
  std::set<std::string> names;
  for (auto const& module : modules)
    for (auto const list : {&ptx_interface::hooks, &ptx_interface::weak})
      for (auto const& function : detail::interface_of_any(module).*list)
        names.insert(function.name);
  return names;
}

/// @throws file_error a sidecar with "hook" states one that no input calls.
void check_called(plan_references const& references, std::span<fatbin const> modules)
{
  if (!std::ranges::all_of(modules, shows_functions)) return;
  auto const called = called_functions(modules);
  for (auto const& stated : references.list) {
    if (stated.states_hooks || stated.hooks.empty()) continue;
    auto const& hook = stated.hooks.front().hook;
    if (called.contains(hook)) continue;
    throw file_error(
        stage::sidecar,
        {.message = fmt::format("{}: its \"hook\" is {}, which no input calls", stated.file, hook),
         .input = stated.file,
         .code = error_code::invalid_sidecar,
         .hint = called.empty() ? "no hook is called: correct \"hook\", or remove the transform"
                                : fmt::format("hooks that are called: {}; correct \"hook\", or "
                                              "remove the transform",
                                              fmt::join(called, ", "))});
  }
}

}  // namespace

plan_references read_references(std::span<input const> inputs)
{
  plan_references references;
  for (std::size_t i = 1; i <= inputs.size(); ++i) {  // the library last
    auto const& file = inputs[i % inputs.size()];
    auto const is_library = i == inputs.size();
    auto stated = transform_reference::beside(file);
    if (!is_library && !(stated && stated->states_hooks)) references.is_incomplete = true;
    if (!stated) {
      if (auto reason = explain_unused(file); !reason.empty())
        references.unused.push_back(std::move(reason));
      continue;
    }
    detail::check_stated_hooks(file.modules(), file.name(), *stated);
    references.list.push_back(std::move(*stated));
    references.has_library = is_library;
  }
  return references;
}

bound_types bind_plan(launch_plan plan, std::span<input const> inputs,
                      std::span<fatbin const> modules)
{
  if (auto findings = detail::check_elements(plan, modules); !findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", plan.name));
  bound_types bound{.references = read_references(inputs)};
  check_called(bound.references, modules);
  bound.plan = detail::bind_types(std::move(plan), detail::elements_of(modules, inputs));
  auto findings = detail::check_plan(bound.plan, modules);
  if (findings.empty()) findings = detail::check_array_types(bound.plan, modules);
  if (!findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", bound.plan.name));
  detail::require_types(bound.plan);
  return bound;
}

}  // namespace fatlink::cli
