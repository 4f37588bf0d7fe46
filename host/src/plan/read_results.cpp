// SPDX-License-Identifier: Apache-2.0
// "computes" and "depth" of a plan.
#include <algorithm>

#include "plan/plan_error.hpp"
#include "plan/read_computation.hpp"
#include "plan/read_parts.hpp"

namespace fatlink::detail {
namespace {

std::vector<std::string> list_outputs(launch_plan const& stated)
{
  std::vector<std::string> names;
  for (auto const& argument : stated.arguments)
    if (argument.role == argument_role::output) names.push_back(argument.name);
  return names;
}

plan_result read_result(std::string const& output, json_place const& place,
                        launch_plan const& stated)
try {
  return {.output = output, .value = read_computation(place.text(), stated)};
} catch (expression_error const& error) {
  fail_formula(stated.file, place.path(), place.text(), error);
}

}  // namespace

std::vector<plan_result> read_results(json_place const& plan, launch_plan const& stated)
{
  std::vector<plan_result> results;
  std::vector<std::string> computed;
  auto const outputs = list_outputs(stated);
  if (auto const computes = plan.find("computes")) {
    computes->check_keys(outputs);
    for (auto const& output : outputs)
      if (auto const place = computes->find(output.c_str())) {
        results.push_back(read_result(output, *place, stated));
        computed.push_back(output);
      }
  }
  if (auto const depth = plan.find("depth")) {
    depth->check_keys(computed);
    for (auto& result : results)
      if (auto const place = depth->find(result.output.c_str())) result.depth = place->formula();
  }
  return results;
}

}  // namespace fatlink::detail
