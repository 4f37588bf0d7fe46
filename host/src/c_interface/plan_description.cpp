// SPDX-License-Identifier: Apache-2.0
#include "c_interface/plan_description.hpp"

#include <algorithm>

#include "c_interface/enumerations.hpp"
#include "c_interface/guard.hpp"
#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {

std::string type_name_of(plan_argument const& argument)
{
  return argument.type ? to_string(*argument.type) : std::string();
}

fatlink_plan_argument describe(plan_argument const& argument, std::string const& name,
                               std::string const& type_name)
{
  auto const own = argument.type && !argument.shape.empty() ? argument.type->alignment : 0;
  return {.size = sizeof(fatlink_plan_argument),
          .name = name.c_str(),
          .role = role_of(argument.role),
          .scalar = argument.type ? scalar_of(argument.type->kind) : FATLINK_SCALAR_UNSTATED,
          .element_bytes = argument.type ? argument.type->size : 0,
          .type_name = type_name.c_str(),
          .dimensions = static_cast<std::uint32_t>(argument.shape.size()),
          .alignment = static_cast<std::uint32_t>(std::max(own, argument.alignment)),
          .has_default = argument.default_value ? 1 : 0,
          .reserved = 0};
}

extents_output::extents_output(char const* array_name, std::uint64_t* destination, std::size_t room,
                               std::size_t* dimension_count)
    : dimensions_(output(dimension_count, "dimensions")),
      array_(required_text(array_name, "array")),
      extents_(destination),
      capacity_(list(destination, room, "extents").size())
{
}

void extents_output::set(launch_plan const& plan, plan_extents const& all) const
{
  auto const match = all.arrays.find(array_);
  if (match == all.arrays.end())
    detail::fail_use(detail::format("plan {} has no array {}", plan.name, array_), array_,
                     "pass the name of an argument with dimensions");
  std::copy_n(match->second.begin(), std::min(capacity_, match->second.size()), extents_);
  dimensions_ = match->second.size();
}

}  // namespace fatlink::c
