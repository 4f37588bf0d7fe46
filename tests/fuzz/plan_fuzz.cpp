// SPDX-License-Identifier: Apache-2.0
// Any bytes as a launch plan, whose formulas are evaluated: two sizes of 8 bytes, then the JSON.
// The sizes are given to all sizes of the plan in turn.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"
#include "plan/read_plan.hpp"

namespace {

using namespace fatlink;

void evaluate(detail::plan_formulas const& formulas, std::array<std::int64_t, 2> const& numbers)
{
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i) sizes.push_back(numbers[i % 2]);
  detail::device_facts const facts{
      .multiprocessors = 132,
      .shared_memory = 232448,
      .element_bytes = 8,
      .occupancy = [](std::string const&, unsigned threads, std::size_t) {
        return static_cast<std::int64_t>(2048 / threads);
      }};
  auto const values = compute_values(formulas, sizes, facts);
  for (std::size_t i = 0; i < formulas.depths.size(); ++i) compute_depth(formulas, i, values);
  detail::array_extents arrays;
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i)
    if (!values.extents[i].empty()) arrays[formulas.plan.arguments[i].name] = values.extents[i];
  check_extents(formulas, values, arrays);
  find_sizes(formulas, arrays, {});
}

/// With the numbers for the sizes and for what the launches write.
void compute_lengths(launch_plan const& plan, std::array<std::int64_t, 2> const& numbers)
{
  std::map<std::string, std::int64_t> named;
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::size || detail::holds_length(argument))
      named[argument.name] = numbers[named.size() % 2];
  for (auto const& argument : plan.arguments)
    if (!argument.length.empty()) detail::compute_length(plan, argument, named);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::array<std::int64_t, 2> numbers{};
  if (size < sizeof numbers) return 0;
  std::memcpy(numbers.data(), data, sizeof numbers);
  bytes_view const json(reinterpret_cast<std::byte const*>(data) + sizeof numbers,
                        size - sizeof numbers);
  try {
    auto const plan =
        detail::read_plan(detail::json_file(json, "plan.json").json(), "plan.json", {});
    for (auto const& result : plan.results) to_string(result.value);
    compute_lengths(plan, numbers);
    evaluate(detail::plan_formulas(plan), numbers);
  } catch (error const&) {
  }
  return 0;
}
