// SPDX-License-Identifier: Apache-2.0
#include "plan/overlap.hpp"

#include <algorithm>
#include <string>

namespace fatlink::detail {
namespace {

constexpr unsigned k_first_with_wait = 90;  // PTX ISA: griddepcontrol needs sm_90

bool waits(std::string const& kernel, std::span<fatbin const> modules, entry_choice const& choice)
{
  auto has_kernel = false;
  for (auto const& module : modules) {
    auto const& kernels = interface_of(module, choice).kernels;
    if (std::ranges::find(kernels, kernel, &ptx_function::name) == kernels.end()) continue;
    auto const* const entry = linked_entry(module, choice);
    if (entry == nullptr || entry->target.number() < k_first_with_wait) return false;
    has_kernel = true;
  }
  return has_kernel;
}

}  // namespace

void clear_unsafe_overlaps(launch_plan& plan, std::span<fatbin const> modules,
                           entry_choice const& choice)
{
  for (auto& launch : plan.launches)
    launch.overlap = launch.overlap && waits(launch.kernel, modules, choice);
}

bool overlaps(launch_plan const& plan, plan_values const& values, std::size_t index)
{
  auto const earlier = std::span(values.launches).first(index);
  return plan.launches[index].overlap &&
         (plan.launches.front().overlap ||
          std::ranges::any_of(earlier, [](auto const& launch) { return launch.is_made(); }));
}

}  // namespace fatlink::detail
