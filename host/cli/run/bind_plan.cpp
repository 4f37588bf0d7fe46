// SPDX-License-Identifier: Apache-2.0
#include "run/bind_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "fatlink/preflight.hpp"
#include "plan/bind_types.hpp"
#include "plan/check_hooks.hpp"
#include "plan/check_plan.hpp"

namespace fatlink::cli {
namespace {

plan_references references_of(std::vector<std::filesystem::path> const& paths)
{
  plan_references references;
  for (std::size_t i = 1; i <= paths.size(); ++i)  // the library last
    if (auto stated = transform_reference::beside(paths[i % paths.size()])) {
      references.list.push_back(std::move(*stated));
      references.has_library = i == paths.size();
    }
  return references;
}

/// Of the idents, and where they state none, of the sidecars.
detail::hook_elements elements_of(std::span<fatbin const> modules,
                                  std::vector<transform_reference> const& transforms)
{
  auto elements = detail::elements_of(modules);
  for (auto const& transform : transforms)
    if (transform.types.element)
      for (auto const& hook : transform.hooks) {
        auto const place = elements.find(hook.hook);
        // A struct whose fields only the sidecar knows.
        if (place == elements.end() || (place->second.kind == scalar_kind::bytes &&
                                        place->second.size == transform.types.element->size))
          elements.insert_or_assign(hook.hook, *transform.types.element);
      }
  return elements;
}

}  // namespace

bound_types bind_plan(launch_plan plan, std::vector<std::filesystem::path> const& paths,
                      std::span<fatbin const> modules)
{
  if (auto findings = detail::check_elements(plan, modules); !findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", plan.name));
  bound_types bound{.references = references_of(paths)};
  bound.plan = detail::bind_types(std::move(plan), elements_of(modules, bound.references.list));
  if (auto findings = detail::check_plan(bound.plan, modules); !findings.empty())
    throw refused_error(std::move(findings), fmt::format("run plan {}", bound.plan.name));
  detail::require_types(bound.plan);
  return bound;
}

}  // namespace fatlink::cli
