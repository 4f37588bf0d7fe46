// SPDX-License-Identifier: Apache-2.0
#include "fatlink/launch_plan.hpp"

#include <algorithm>

#include "plan/read_plan.hpp"

namespace fatlink {

char const* to_string(argument_role role) noexcept
{
  switch (role) {
    case argument_role::input:
      return "input";
    case argument_role::output:
      return "output";
    case argument_role::scratch:
      return "scratch";
    case argument_role::size:
      return "size";
    case argument_role::value:
      return "value";
    case argument_role::state:
      return "state";
  }
  return "unknown";
}

char const* to_string(operation kind) noexcept
{
  switch (kind) {
    case operation::argument:
      return "argument";
    case operation::index:
      return "index";
    case operation::neighbor:
      return "neighbor";
    case operation::map:
      return "map";
    case operation::fold:
      return "fold";
    case operation::scan:
      return "scan";
    case operation::exclusive_scan:
      return "exclusive_scan";
    case operation::filter:
      return "filter";
    case operation::rejected:
      return "rejected";
    case operation::count:
      return "count";
    case operation::segmented_fold:
      return "segmented_fold";
    case operation::sort:
      return "sort";
    case operation::histogram:
      return "histogram";
    case operation::unique:
      return "unique";
    case operation::unique_count:
      return "unique_count";
    case operation::sort_by:
      return "sort_by";
    case operation::run_lengths:
      return "run_lengths";
    case operation::fold_runs:
      return "fold_runs";
    case operation::scan_runs:
      return "scan_runs";
    case operation::segmented_sort:
      return "segmented_sort";
    case operation::merge:
      return "merge";
    case operation::lower_bound:
      return "lower_bound";
    case operation::upper_bound:
      return "upper_bound";
    case operation::filter_equal:
      return "filter_equal";
    case operation::filter_above:
      return "filter_above";
    case operation::count_equal:
      return "count_equal";
    case operation::low_bits:
      return "low_bits";
  }
  return "unknown";
}

std::string to_string(computation const& node)
{
  if (node.kind == operation::argument) return node.name;
  if (node.kind == operation::index) return "index";
  std::string list = node.name;
  for (auto const& operand : node.operands) list += (list.empty() ? "" : ", ") + to_string(operand);
  if (node.kind == operation::neighbor || detail::compares_number(node.kind))
    list += ", " + std::to_string(node.offset);
  return std::string(to_string(node.kind)) + "(" + list + ")";
}

std::vector<std::string> launch_plan::kernels() const
{
  std::vector<std::string> names;
  for (auto const& launch : launches)
    if (std::ranges::find(names, launch.kernel) == names.end()) names.push_back(launch.kernel);
  return names;
}

plan_argument const* launch_plan::find(std::string_view argument) const noexcept
{
  auto const place = std::ranges::find(arguments, argument, &plan_argument::name);
  return place == arguments.end() ? nullptr : &*place;
}

}  // namespace fatlink
