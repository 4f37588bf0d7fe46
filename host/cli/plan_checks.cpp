// SPDX-License-Identifier: Apache-2.0
#include "plan_checks.hpp"

#include <iterator>
#include <utility>

#include "plan/check_hooks.hpp"
#include "plan/check_plan.hpp"

namespace fatlink::cli {
namespace {

/// `modules`, then those of all `files` but `owner`.
std::vector<fatbin> with_others(std::vector<fatbin> modules, std::vector<input> const& files,
                                input const* owner)
{
  for (auto const& file : files)
    if (&file != owner) modules.insert(modules.end(), file.modules().begin(), file.modules().end());
  return modules;
}

}  // namespace

std::vector<stated_plan> read_plans(std::vector<input> const& files,
                                    std::vector<installed_library> const& libraries)
{
  std::vector<stated_plan> plans;
  for (auto const& file : files)
    if (auto plan = launch_plan::beside(file.name()))
      plans.push_back(
          {std::move(*plan), file.modules(), with_others(file.modules(), files, &file)});
  for (auto const& library : libraries)
    if (auto plan = launch_plan::beside(library.contents.name()))
      plans.push_back({std::move(*plan),
                       {library.contents},
                       with_others({library.contents}, files, nullptr),
                       &library});
  return plans;
}

std::vector<finding> judge_plan(stated_plan const& stated, entry_choice const& choice)
{
  auto findings = detail::check_plan(stated.plan, stated.modules, {.choice = choice});
  auto elements = detail::check_elements(stated.plan, stated.all);
  findings.insert(findings.end(), std::make_move_iterator(elements.begin()),
                  std::make_move_iterator(elements.end()));
  return findings;
}

}  // namespace fatlink::cli
