// SPDX-License-Identifier: Apache-2.0
#include "plan_checks.hpp"

#include <iterator>
#include <utility>

#include "fatlink/error.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_hooks.hpp"
#include "plan/check_plan.hpp"
#include "preflight/interface_queries.hpp"
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

/// What the transforms state that they compute, compared with "computes".
std::vector<finding> judge_references(stated_plan const& stated)
try {
  auto const elements = detail::elements_of(stated.all, stated.inputs);
  return detail::check_references(detail::bind_types(stated.plan, elements), stated.references);
} catch (usage_error const& cause) {
  return {unbound_types(cause)};
} catch (unavailable_error const&) {  // muParser
  return {};
}

void append(std::vector<finding>& findings, std::vector<finding> more)
{
  findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<stated_plan> read_plans(std::vector<input> const& files,
                                    std::vector<installed_library> const& libraries)
{
  std::vector<stated_plan> plans;
  for (auto const& file : files)
    if (auto plan = launch_plan::beside(file.name()))
      plans.push_back(plan_of(std::move(*plan), file, files, nullptr));
  for (auto const& library : libraries)
    if (auto plan = launch_plan::beside(library.contents.name()))
      plans.push_back(plan_of(std::move(*plan), library.contents, files, &library));
  return plans;
}

std::vector<finding> judge_plan(stated_plan const& stated, entry_choice const& choice)
{
  auto findings = detail::check_plan(stated.plan, stated.modules, {.choice = choice});
  auto elements = detail::check_elements(stated.plan, stated.all);
  if (elements.empty()) elements = judge_references(stated);
  append(findings, std::move(elements));
  return findings;
}

}  // namespace fatlink::cli
