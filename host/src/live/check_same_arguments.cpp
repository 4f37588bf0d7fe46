// SPDX-License-Identifier: Apache-2.0
#include "live/check_same_arguments.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fatlink/preflight.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

std::string describe_argument(plan_argument const& argument)
{
  return detail::format("{}{}{}{}", to_string(argument.role),
                        argument.type ? " of " + to_string(*argument.type) : std::string(),
                        argument.shape.size() > 1
                            ? detail::format(" in {} dimensions", argument.shape.size())
                            : std::string(),
                        argument.default_value ? " with a default" : "");
}

/// "n: size of int64, not value of int64"; empty if calls can pass the same.
std::string describe_difference(plan_argument const& first, plan_argument const* changed)
{
  if (changed == nullptr) return detail::format("has no argument {}", first.name);
  auto const expected = describe_argument(first);
  auto const actual = describe_argument(*changed);
  if (expected == actual) return {};
  return detail::format("has {} as {}, not as {}", first.name, actual, expected);
}

[[noreturn]] void refuse(launch_plan const& first, launch_plan const& changed,
                         std::string const& argument, std::string const& difference)
{
  std::vector<finding> findings{
      {.id = finding_id::plan_mismatch,
       .severity = severity::error,
       .files = {changed.file},
       .symbol = argument,
       .message = detail::format("{}: the plan {}; callers of the live plan use that of {}",
                                 changed.file, difference, first.file),
       .hint = "keep the arguments of the plan, or make another live plan"}};
  throw refused_error(std::move(findings), detail::format("swap plan {}", changed.name));
}

}  // namespace

void check_same_arguments(launch_plan const& first, launch_plan const& changed)
{
  for (auto const& argument : first.arguments) {
    if (argument.role == argument_role::scratch) continue;
    auto const difference = describe_difference(argument, changed.find(argument.name));
    if (!difference.empty()) refuse(first, changed, argument.name, difference);
  }
  for (auto const& argument : changed.arguments)
    if (argument.role != argument_role::scratch && first.find(argument.name) == nullptr)
      refuse(first, changed, argument.name,
             detail::format("has another argument, {}", argument.name));
}

}  // namespace fatlink::detail
