// SPDX-License-Identifier: Apache-2.0
#include "run/verify_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "options.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::cli {
namespace {

/// Sizes as arrays of one element, by name.
using size_arrays = std::map<std::string, host_array>;

/// The references with the states of this run instead of their defaults.
std::vector<transform_reference> with_states(plan_expectations const& expected)
{
  auto transforms = expected.transforms;
  for (auto const& argument : expected.plan.arguments) {
    if (argument.role != argument_role::state) continue;
    auto const* const owner = owner_of(argument, expected.transforms);
    if (owner == nullptr) continue;
    auto const& bytes = expected.data.states.at(argument.name);
    auto& types = transforms[static_cast<std::size_t>(owner - expected.transforms.data())].types;
    types.default_state = bytes;
  }
  return transforms;
}

plan_reference reference_of(plan_expectations const& expected, size_arrays const& sizes,
                            mode_result const& mode)
{
  plan_data data{.depths = mode.depths};
  for (auto const& [name, array] : expected.data.inputs) data.arguments[name] = array.view();
  for (auto const& [name, value] : expected.data.values) data.arguments[name] = value.view();
  for (auto const& [name, value] : sizes) data.arguments[name] = value.view();
  return {expected.plan, with_states(expected), std::move(data)};
}

size_arrays sizes_as_arrays(plan_expectations const& expected)
{
  size_arrays arrays;
  for (auto const& [name, size] : expected.data.sizes) {
    host_array array{.type = scalar_type(scalar_kind::int64)};
    auto const bytes = std::as_bytes(std::span(&size, 1));
    array.bytes.assign(bytes.begin(), bytes.end());
    arrays[name] = std::move(array);
  }
  return arrays;
}

/// Without a reference. Elements of the same inputs by the same kernel rarely differ by more.
constexpr hook_tolerance k_tolerance_without_reference{.ulp = 4};

/// Whether an element is computed by calls in a row, whose errors add up.
bool accumulates(launch_plan const& plan, std::string const& output)
{
  auto const place = std::ranges::find(plan.results, output, &plan_result::output);
  if (place == plan.results.end()) return true;  // nothing is known of it
  auto const kind = place->value.kind;
  return kind == operation::fold || kind == operation::scan || kind == operation::segmented_fold;
}

output_verification compare_by_tolerance(std::string const& no_bound, array_view const& first,
                                         array_view const& second)
{
  auto result = compare_outputs(first, second, k_tolerance_without_reference);
  result.method = fmt::format("up to {} spacings of the type, as there is no bound: {}",
                              k_tolerance_without_reference.ulp, no_bound);
  return result;
}

/// With an array of --expect.
output_verification compare_expected(plan_reference const& reference, std::string const& output,
                                     array_view const& expected, array_view const& actual)
{
  auto result = reference.verify_between(output, expected, actual);
  if (result.reason.empty()) return result;
  return compare_by_tolerance(result.reason, expected, actual);
}

/// Of two runs. Where nothing bounds errors that accumulate, a difference is no failure.
output_verification compare_runs(plan_reference const& reference, launch_plan const& plan,
                                 std::string const& output, array_view const& first,
                                 array_view const& second)
{
  auto result = reference.verify_between(output, first, second);
  if (result.reason.empty()) return result;
  result = compare_by_tolerance(result.reason, first, second);
  if (result.failures == 0 || !accumulates(plan, output)) return result;
  return {.reason = fmt::format("{} of {} elements differ, by up to {:.3g}; {}", result.failures,
                                result.elements, result.max_abs_error, result.method)};
}

/// @throws usage_error the array of --expect has another number of elements than the output.
void check_count(std::string const& name, host_array const& expected, host_array const& actual)
{
  if (expected.count() == actual.count()) return;
  fail_usage(fmt::format("--expect {}: the array has {} elements, and the output has {}", name,
                         expected.count(), actual.count()),
             name, "pass the expected result for these inputs and sizes");
}

}  // namespace

void verify_modes(plan_expectations const& expected, plan_summary& summary, std::size_t print)
{
  auto const sizes = sizes_as_arrays(expected);
  for (auto& mode : summary.modes) {
    auto const reference = reference_of(expected, sizes, mode);
    for (auto const& [name, array] : mode.outputs)
      mode.verifications[name] = reference.verify(name, array.view());
    for (auto const& [name, array] : expected.data.expected) {
      auto const& output = mode.outputs.at(name);
      check_count(name, array, output);
      mode.expectations[name] = compare_expected(reference, name, array.view(), output.view());
    }
  }
  auto const& first = summary.modes.front();
  auto const reference = reference_of(expected, sizes, first);
  for (auto const& [name, array] : first.outputs) {
    if (summary.modes.size() == 2)
      summary.between[name] = compare_runs(reference, expected.plan, name, array.view(),
                                           summary.modes[1].outputs.at(name).view());
    if (print != 0)
      summary.expected_text[name] = reference.expected_text(name, array.view(), print);
  }
}

void verify_against_cpu(plan_expectations const& expected, mode_result const& reference_device,
                        plan_summary& summary)
{
  auto const sizes = sizes_as_arrays(expected);
  auto const reference = reference_of(expected, sizes, reference_device);
  for (auto const& [name, array] : summary.modes.front().outputs)
    summary.against_cpu[name] = compare_runs(
        reference, expected.plan, name, reference_device.outputs.at(name).view(), array.view());
}

}  // namespace fatlink::cli
