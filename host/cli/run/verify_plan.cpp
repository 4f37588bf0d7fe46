// SPDX-License-Identifier: Apache-2.0
#include "run/verify_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "run/output_extents.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::cli {
namespace {

/// Sizes as arrays of one element, by name.
using size_arrays = std::map<std::string, host_array>;

/// Of `hook` only.
transform_reference restricted(transform_reference whole, std::string const& hook)
{
  std::erase_if(whole.hooks, [&](hook_reference const& other) { return other.hook != hook; });
  return whole;
}

/// The library's own references hold for hooks that no transform fills.
void remove_filled(transform_reference& library, linked_image const& image)
{
  std::erase_if(library.hooks, [&](hook_reference const& hook) {
    auto const place = std::ranges::find(image.hooks, hook.hook, &hook_fact::name);
    return place != image.hooks.end() && !place->is_default;
  });
}

/// The references of the code in `image`, with the states of this run instead of their defaults.
std::vector<transform_reference> references_in(plan_expectations const& expected,
                                               linked_image const& image)
{
  auto all = expected.references.list;
  if (expected.references.has_library) remove_filled(all.back(), image);
  std::vector<transform_reference> of_hooks;  // found before those of the same transform in `all`
  for (auto const& argument : expected.plan.arguments) {
    if (argument.role != argument_role::state) continue;
    auto const* const owner = owner_of(argument, all);
    if (owner == nullptr) continue;
    auto& stated = argument.hook.empty() ? all[static_cast<std::size_t>(owner - all.data())]
                                         : of_hooks.emplace_back(restricted(*owner, argument.hook));
    stated.types.default_state = expected.data.states.at(argument.name);
  }
  of_hooks.insert(of_hooks.end(), all.begin(), all.end());
  return of_hooks;
}

plan_reference reference_of(plan_expectations const& expected, size_arrays const& sizes,
                            mode_result const& mode)
{
  plan_data data{.depths = mode.depths};
  for (auto const& [name, array] : expected.data.inputs) data.arguments[name] = array.view();
  for (auto const& [name, value] : expected.data.values) data.arguments[name] = value.view();
  for (auto const& [name, value] : sizes) data.arguments[name] = value.view();
  return {expected.plan, references_in(expected, mode.image), std::move(data)};
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

/// As k_without_bound says. Elements of the same inputs by the same kernel rarely differ by more.
constexpr hook_tolerance k_tolerance_without_reference{.ulp = 4};

/// Whether an element is computed by calls in a row, whose errors add up.
bool accumulates(launch_plan const& plan, std::string const& output)
{
  auto const place = std::ranges::find(plan.results, output, &plan_result::output);
  if (place == plan.results.end()) return true;  // nothing is known of it
  return detail::accumulates(place->value.kind);
}

bool is_exact(scalar_kind kind)
{
  return kind == scalar_kind::bytes || detail::is_integer(kind);
}

/// A copy whose components are 0, but for those of integers and bytes, or those of floats.
std::vector<std::byte> only(array_view const& array, bool integers)
{
  std::vector<std::byte> bytes(array.bytes.begin(), array.bytes.end());
  for (auto const& part : detail::components_of(array.type))
    if (is_exact(part.kind) != integers)
      for (std::size_t i = 0; i < array.count(); ++i)
        std::memset(bytes.data() + i * array.type.size + part.offset, 0,
                    detail::size_of(part.kind));
  return bytes;
}

/// Integers exactly, floats within k_tolerance_without_reference.
output_verification compare_parts(array_view const& first, array_view const& second)
{
  auto const parts = detail::components_of(first.type);
  auto const count =
      std::ranges::count_if(parts, [](auto const& part) { return is_exact(part.kind); });
  if (count == 0) return compare_outputs(first, second, k_tolerance_without_reference);
  if (count == std::ssize(parts) || first.count() != second.count() || !(first.type == second.type))
    return compare_outputs(first, second, {});
  auto const integers = std::pair(only(first, true), only(second, true));
  auto result = compare_outputs({first.type, integers.first}, {second.type, integers.second}, {});
  if (result.failures != 0) return result;
  auto const floats = std::pair(only(first, false), only(second, false));
  return compare_outputs({first.type, floats.first}, {second.type, floats.second},
                         k_tolerance_without_reference);
}

output_verification compare_by_tolerance(std::string const& no_bound, array_view const& first,
                                         array_view const& second)
{
  auto result = compare_parts(first, second);
  result.method = fmt::format("{}, as there is no bound: {}", k_without_bound, no_bound);
  return result;
}

array_view first_elements(array_view const& array, std::size_t count)
{
  return {array.type, array.bytes.first(count * array.type.size)};
}

/// With an array of --expect. Arrays of an output with a length may have different counts.
output_verification compare_expected(plan_reference const& reference, std::string const& output,
                                     array_view const& expected, array_view const& actual)
{
  if (expected.count() != actual.count()) {
    auto const common = std::min(expected.count(), actual.count());
    auto result = compare_expected(reference, output, first_elements(expected, common),
                                   first_elements(actual, common));
    compare_lengths(result, expected.count(), actual.count());
    return result;
  }
  auto result = reference.verify_between(output, expected, actual);
  if (result.reason.empty()) return result;
  return compare_by_tolerance(result.reason, expected, actual);
}

/// One output of a run.
struct run_output {
  array_view array;
  std::byte unwritten;

  [[nodiscard]] bool is_unwritten(std::size_t index) const
  {
    return std::ranges::all_of(array.bytes.subspan(index * array.type.size, array.type.size),
                               [&](std::byte byte) { return byte == unwritten; });
  }
};

run_output output_of(mode_result const& run, std::string const& output)
{
  return {run.outputs.at(output).view(), run.unwritten};
}

/// `second` with the elements of `first` where neither run wrote one; counts these.
std::vector<std::byte> without_unwritten(run_output const& first, run_output const& second,
                                         std::size_t& count)
{
  std::vector<std::byte> bytes(second.array.bytes.begin(), second.array.bytes.end());
  auto const size = first.array.type.size;
  for (std::size_t i = 0; i < std::min(first.array.count(), second.array.count()); ++i)
    if (first.is_unwritten(i) && second.is_unwritten(i)) {
      std::memcpy(bytes.data() + i * size, first.array.bytes.data() + i * size, size);
      ++count;
    }
  return bytes;
}

bool has_floats(element_type const& type)
{
  return std::ranges::any_of(detail::components_of(type),
                             [](auto const& part) { return !is_exact(part.kind); });
}

/// Of two runs without a bound. Elements that neither wrote are not compared. Where nothing bounds
/// errors that accumulate, a difference of floats is no failure.
output_verification compare_without_bound(std::string const& no_bound, launch_plan const& plan,
                                          std::string const& output, run_output const& first,
                                          run_output const& second)
{
  std::size_t unwritten = 0;
  auto const bytes = without_unwritten(first, second, unwritten);
  if (unwritten != 0 && unwritten == first.array.count())
    return {.reason = "no kernel wrote an element of it"};
  auto result = compare_by_tolerance(no_bound, first.array, {second.array.type, bytes});
  result.elements -= unwritten;
  if (unwritten != 0) result.method += fmt::format("; {} elements were not written", unwritten);
  if (result.failures == 0 || !has_floats(first.array.type) || !accumulates(plan, output))
    return result;
  return {.reason = fmt::format("{} of {} elements differ, by up to {:.3g}; {}", result.failures,
                                result.elements, result.max_abs_error, result.method)};
}

output_verification compare_runs(plan_reference const& reference, launch_plan const& plan,
                                 std::string const& output, run_output const& first,
                                 run_output const& second)
{
  if (first.array.count() != second.array.count()) {  // of an output with a length
    auto const common = std::min(first.array.count(), second.array.count());
    auto result = compare_runs(reference, plan, output,
                               {first_elements(first.array, common), first.unwritten},
                               {first_elements(second.array, common), second.unwritten});
    compare_lengths(result, first.array.count(), second.array.count());
    return result;
  }
  auto result = reference.verify_between(output, first.array, second.array);
  if (result.reason.empty()) return result;
  return compare_without_bound(result.reason, plan, output, first, second);
}

/// Nothing is verified where there is nothing.
void mark_empty(comparisons& results)
{
  for (auto& [name, result] : results)
    if (result.reason.empty() && result.elements == 0) result = {.reason = "there are no elements"};
}

}  // namespace

void verify_modes(plan_expectations const& expected, plan_summary& summary, std::size_t print)
{
  auto const sizes = sizes_as_arrays(expected);
  for (auto& mode : summary.modes) {
    auto const reference = reference_of(expected, sizes, mode);
    for (auto const& [name, array] : mode.outputs)
      mode.verifications[name] =
          array.wrong_length.empty() ? reference.verify(name, array.view()) : refuse_length(array);
    for (auto const& [name, array] : expected.data.expected) {
      auto const& output = mode.outputs.at(name);
      check_extents(*expected.plan.find(name), array, output);
      mode.expectations[name] = compare_expected(reference, name, array.view(), output.view());
    }
    mark_empty(mode.verifications);
    mark_empty(mode.expectations);
  }
  auto const& first = summary.modes.front();
  auto const reference = reference_of(expected, sizes, first);
  for (auto const& [name, array] : first.outputs) {
    if (summary.modes.size() == 2)
      summary.between[name] = compare_runs(reference, expected.plan, name, output_of(first, name),
                                           output_of(summary.modes[1], name));
    if (print != 0)
      summary.expected_text[name] = reference.expected_text(name, array.view(), print);
  }
  mark_empty(summary.between);
}

void verify_against_cpu(plan_expectations const& expected, mode_result const& reference_device,
                        plan_summary& summary)
{
  auto const sizes = sizes_as_arrays(expected);
  auto const reference = reference_of(expected, sizes, reference_device);
  for (auto const& [name, array] : summary.modes.front().outputs)
    summary.against_cpu[name] =
        compare_runs(reference, expected.plan, name, output_of(reference_device, name),
                     output_of(summary.modes.front(), name));
  mark_empty(summary.against_cpu);
}

}  // namespace fatlink::cli
