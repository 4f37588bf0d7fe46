// SPDX-License-Identifier: Apache-2.0
#include "plan_checks.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "fatlink/error.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_plan.hpp"
#include "preflight/symbols.hpp"
#include "run/bind_plan.hpp"
#include "verification/check_references.hpp"

namespace fatlink::cli {
namespace {

/// `owner`, whose plan it is, with all `files` but itself.
stated_plan plan_of(launch_plan plan, input const& owner, std::vector<input> const& files,
                    installed_library const* library)
{
  stated_plan stated{.plan = std::move(plan), .modules = owner.modules(), .library = library};
  stated.inputs.push_back(owner);
  for (auto const& file : files)
    if (&file != &owner) stated.inputs.push_back(file);
  stated.all = detail::modules_of(stated.inputs);
  stated.references = read_references(stated.inputs).list;
  return stated;
}

finding unbound_types(usage_error const& cause)
{
  return {.id = finding_id::element_mismatch,
          .severity = severity::error,
          .files = {cause.details().input},
          .message = cause.details().message,
          .hint = cause.details().hint};
}

/// Whether a transform of `stated`, which is each input but the first, defines `hook`; of an empty
/// name: whether there is one.
bool has_transform(stated_plan const& stated, std::string const& hook)
{
  auto const defines = [&](fatbin const& module) {
    auto const& interface = detail::interface_of_any(module);
    return hook.empty() || std::ranges::find(interface.definitions, hook, &ptx_function::name) !=
                               interface.definitions.end();
  };
  return std::ranges::any_of(std::span(stated.inputs).subspan(1), [&](input const& transform) {
    return std::ranges::any_of(transform.modules(), defines);
  });
}

/// Of elements that a transform handles, and that have no type in `bound`: it links, but a run
/// refuses it.
std::vector<finding> judge_types(launch_plan const& bound, stated_plan const& stated)
{
  for (auto const& argument : bound.arguments) {
    if (!has_transform(stated, argument.hook)) continue;
    auto one = bound;
    one.arguments = {argument};
    try {
      detail::require_types(one);
    } catch (usage_error const& cause) {
      auto result = unbound_types(cause);
      result.severity = severity::warning;
      return {std::move(result)};
    }
  }
  return {};
}

void append(std::vector<finding>& findings, std::vector<finding> more)
{
  findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<finding> judge_references(stated_plan const& stated)
try {
  auto const bound =
      detail::bind_types(stated.plan, detail::elements_of(stated.all, stated.inputs));
  auto findings = judge_types(bound, stated);
  append(findings, detail::check_references(bound, stated.references));
  return findings;
} catch (usage_error const& cause) {
  return {unbound_types(cause)};
}

std::vector<stated_plan> read_plans(std::vector<input> const& files,
                                    std::vector<installed_library> const& libraries)
{
  std::vector<stated_plan> plans;
  for (auto const& file : files)
    if (auto plan = launch_plan::beside(file))
      plans.push_back(plan_of(std::move(*plan), file, files, nullptr));
  for (auto const& library : libraries)
    if (auto plan = launch_plan::beside(input(library.contents)))
      plans.push_back(plan_of(std::move(*plan), library.contents, files, &library));
  return plans;
}

std::vector<finding> judge_plan(stated_plan const& stated, entry_choice const& choice)
{
  auto findings = detail::check_plan(stated.plan, stated.modules, {.choice = choice});
  if (findings.empty()) findings = detail::check_array_types(stated.plan, stated.modules);
  auto elements = detail::check_elements(stated.plan, stated.all);
  if (elements.empty()) elements = judge_references(stated);
  append(findings, std::move(elements));
  return findings;
}

}  // namespace fatlink::cli
