// SPDX-License-Identifier: Apache-2.0
#include "run/stated_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "options.hpp"

namespace fatlink::cli {
namespace {

using detail::plan_formulas;

/// Whether the size `formulas.sizes[size]` follows from an array that is given.
bool follows(plan_formulas const& formulas, detail::array_extents const& arrays, std::size_t size)
{
  auto const value = plan_formulas::k_first_size + size;
  for (std::size_t i = 0; i < formulas.shapes.size(); ++i) {
    auto const array = arrays.find(formulas.plan.arguments[i].name);
    if (array == arrays.end()) continue;
    for (std::size_t k = 0; k < std::min(array->second.size(), formulas.shapes[i].size()); ++k) {
      auto const& extent = formulas.shapes[i][k];
      if (extent.uses() == std::vector{value} &&
          extent.solve(static_cast<std::int64_t>(array->second[k])))
        return true;
    }
  }
  return false;
}

}  // namespace

detail::stated_sizes stated_sizes_of(plan_formulas const& formulas, plan_arguments const& arguments)
{
  detail::stated_sizes sizes;
  for (auto const index : formulas.sizes) {
    auto const& name = formulas.plan.arguments[index].name;
    auto const place = arguments.values.find(name);
    if (place == arguments.values.end()) continue;
    if (!place->second.is_number_integer())
      fail_usage(fmt::format("--set {}: {} is not a whole number", name, place->second.dump()),
                 name, "state a whole number");
    if (place->second.is_number_unsigned() &&
        !std::in_range<std::int64_t>(place->second.get<std::uint64_t>()))
      fail_usage(fmt::format("--set {}: {} is above 2^63 - 1", name, place->second.dump()), name,
                 "state a smaller size");
    sizes[name] = place->second.get<std::int64_t>();
  }
  return sizes;
}

void add_generated_size(plan_formulas const& formulas, detail::array_extents const& arrays,
                        detail::stated_sizes& sizes, generated_inputs const& generated)
{
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i) {
    auto const& size = formulas.plan.arguments[formulas.sizes[i]];
    if (follows(formulas, arrays, i) || sizes.contains(size.name) || size.default_value) continue;
    sizes[size.name] = static_cast<std::int64_t>(generated.elements);
    return;
  }
  if (generated.must_use_elements)
    fail_usage(fmt::format("--elements {}: is the value of no size: --set states those of plan {}, "
                           "or they have defaults",
                           generated.elements, formulas.plan.name),
               "--elements", "leave out --elements");
}

}  // namespace fatlink::cli
