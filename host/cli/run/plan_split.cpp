// SPDX-License-Identifier: Apache-2.0
#include "run/plan_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "options.hpp"
#include "plan/components.hpp"
#include "plan/plan_formulas.hpp"

namespace fatlink::cli {
namespace {

/// Why a plan is not divided.
struct not_divisible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Why an operation is not divided.
char const* reason_of(operation kind)
{
  switch (kind) {
    case operation::index:
      return "depends on the index of each element";
    case operation::neighbor:
      return "depends on the neighbors of each element";
    case operation::fold:
    case operation::segmented_fold:
      return "folds all elements into one value, and the initial value must be used only once";
    case operation::scan:
    case operation::exclusive_scan:
      return "depends on all elements before each one";
    default:
      return "depends on all elements, in order";
  }
}

/// Finds the arrays that an output is made of, element by element.
class operand_walk {
 public:
  operand_walk(launch_plan const& plan, plan_result const& result) : plan_(plan), result_(result) {}

  void visit(computation const& node)
  {
    if (node.kind == operation::map) {
      for (auto const& operand : node.operands) visit(operand);
      return;
    }
    if (node.kind != operation::argument) fail_division(reason_of(node.kind));
    auto const* const argument = plan_.find(node.name);
    if (argument->role == argument_role::input) arrays_.insert(node.name);
    if (argument->role == argument_role::size) sizes_.insert(node.name);
  }
  [[noreturn]] void fail_division(std::string const& reason) const
  {
    throw not_divisible(
        fmt::format("{} = {} {}", result_.output, to_string(result_.value), reason));
  }
  /// Inputs, and sizes whose value is an operand.
  [[nodiscard]] std::set<std::string> const& arrays() const noexcept { return arrays_; }
  [[nodiscard]] std::set<std::string> const& sizes() const noexcept { return sizes_; }

 private:
  launch_plan const& plan_;
  plan_result const& result_;
  std::set<std::string> arrays_;
  std::set<std::string> sizes_;
};

bool is_number(std::string const& text)
{
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether an extent is the same whatever the value of `size`.
bool is_independent(launch_plan const& plan, formula_text const& extent, std::string const& size)
{
  auto const* const argument = plan.find(extent);
  return is_number(extent) ||
         (argument != nullptr && argument->role == argument_role::size && extent != size);
}

/// The slowest extent is `size`, and the others do not depend on it.
bool is_divisible(launch_plan const& plan, plan_argument const& array, std::string const& size)
{
  return !array.shape.empty() && array.shape.front() == size &&
         std::all_of(array.shape.begin() + 1, array.shape.end(),
                     [&](auto const& extent) { return is_independent(plan, extent, size); });
}

void add_output(plan_split& split, launch_plan const& plan, plan_argument const& output)
{
  auto const place = std::ranges::find(plan.results, output.name, &plan_result::output);
  if (place == plan.results.end())
    throw not_divisible(fmt::format("it does not state how {} is computed", output.name));
  operand_walk walk(plan, *place);
  auto const is_count =
      place->value.kind == operation::count || place->value.kind == operation::histogram;
  if (is_count)
    for (auto const& operand : place->value.operands) walk.visit(operand);
  else
    walk.visit(place->value);
  if (is_count && !(output.type && detail::is_integer(*output.type)))
    walk.fail_division(fmt::format("counts into {}, whose elements are not integers", output.name));
  if (!output.length.empty()) walk.fail_division("has a length that the launches determine");
  if (walk.arrays().empty()) walk.fail_division("is not computed from an array");
  auto const size = plan.find(*walk.arrays().begin())->shape.front();
  if (split.size.empty()) split.size = size;
  for (auto const& name : walk.arrays())
    if (!is_divisible(plan, *plan.find(name), split.size))
      walk.fail_division(fmt::format("takes {}, whose slowest extent is not {}", name, split.size));
  if (walk.sizes().contains(split.size))
    walk.fail_division(fmt::format("depends on {}", split.size));
  split.divided.insert(walk.arrays().begin(), walk.arrays().end());
  (is_count ? split.added : split.divided).insert(output.name);
}

/// Arrays that are not divided have the same extents on every device.
void check_other_arrays(plan_split const& split, launch_plan const& plan)
{
  for (auto const& argument : plan.arguments) {
    auto const is_array =
        argument.role == argument_role::input || argument.role == argument_role::output;
    if (!is_array) continue;
    if (split.divided.contains(argument.name)
            ? !is_divisible(plan, argument, split.size)
            : !std::ranges::all_of(argument.shape, [&](auto const& extent) {
                return is_independent(plan, extent, split.size);
              }))
      throw not_divisible(fmt::format("the extents of {} do not follow from a part of {}",
                                      argument.name, split.size));
  }
}

}  // namespace

plan_split split_of(launch_plan const& plan)
{
  plan_split split;
  try {
    for (auto const& argument : plan.arguments)
      if (argument.role == argument_role::output) add_output(split, plan, argument);
    auto const* const size = plan.find(split.size);
    if (size == nullptr || size->role != argument_role::size)
      throw not_divisible(fmt::format("'{}', the extent of its arrays, is not a size", split.size));
    split.limit = size->limit;
    check_other_arrays(split, plan);
  } catch (not_divisible const& cause) {
    return {.refusal = cause.what()};
  }
  return split;
}

void require_divisible(launch_plan const& plan, plan_split const& split)
{
  if (split.refusal.empty()) return;
  fail_usage(fmt::format("--device: plan {} cannot be divided among several devices: {}", plan.name,
                         split.refusal),
             "--device", "run it on one device: --device gpu:0");
}

void check_expected(plan_split const& split, run_data const& data)
{
  auto const rows = static_cast<std::size_t>(data.sizes.at(split.size));
  for (auto const& [name, array] : data.expected) {
    if (!split.divided.contains(name))
      fail_usage(
          fmt::format(
              "--expect {}: {} is the sum of the counts of several devices, and is not compared",
              name, name),
          name, "run it on one device, or leave out --expect");
    if (array.count() % rows != 0 || array.count() == 0)
      fail_usage(
          fmt::format("--expect {}: the array has {} elements, which is not a multiple of {} = {}",
                      name, array.count(), split.size, rows),
          name, "pass the expected result for these inputs and sizes");
  }
}

namespace {

/// What is left of the limit for a part of the rows.
host_array limit_of_part(run_array const& limit, element_part const& part)
{
  auto array = limit.read();
  auto const whole = detail::load(scalar_kind::uint64, array.bytes.data()).whole;
  auto const rest =
      static_cast<std::uint64_t>(std::clamp<detail::int128>(whole - part.first, 0, part.count));
  std::memcpy(array.bytes.data(), &rest, sizeof rest);
  return array;
}

}  // namespace

run_data part_of(run_data const& whole, plan_split const& split, element_part const& part)
{
  auto const rows = static_cast<std::size_t>(whole.sizes.at(split.size));
  auto result = whole;
  if (auto const limit = result.inputs.find(split.limit); limit != result.inputs.end())
    limit->second = held(limit_of_part(limit->second, part));
  result.sizes[split.size] = static_cast<std::int64_t>(part.count);
  for (auto* const arrays : {&result.inputs, &result.expected})
    for (auto& [name, array] : *arrays)
      if (split.divided.contains(name)) array = array.part(rows, part);
  return result;
}

}  // namespace fatlink::cli
