// SPDX-License-Identifier: Apache-2.0
#include "run/bind_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_hooks.hpp"
#include "plan/check_plan.hpp"
#include "verification/stated_hooks.hpp"

namespace fatlink::cli {
plan_references read_references(std::span<input const> inputs)
{
  plan_references references;
  for (std::size_t i = 1; i <= inputs.size(); ++i) {  // the library last
    auto const& file = inputs[i % inputs.size()];
    auto const is_library = i == inputs.size();
    auto stated = transform_reference::beside(file.name());
    if (!is_library && !(stated && stated->states_hooks)) references.is_incomplete = true;
    if (!stated) continue;
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
  bound.plan = detail::bind_types(std::move(plan), detail::elements_of(modules, inputs));
  if (auto findings = detail::check_plan(bound.plan, modules); !findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", bound.plan.name));
  detail::require_types(bound.plan);
  return bound;
}

}  // namespace fatlink::cli
