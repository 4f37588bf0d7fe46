// SPDX-License-Identifier: Apache-2.0
#include "run/plan_split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options.hpp"
#include "plan/components.hpp"
#include "plan/launch_limits.hpp"

namespace fatlink::cli {
namespace {

[[noreturn]] void refuse_split(launch_plan const& plan, std::string const& reason)
{
  fail_usage(fmt::format("--device: plan {} cannot be divided among several devices: {}", plan.name,
                         reason),
             "--device", "run it on one device: --device gpu:0");
}

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
      return "folds all elements to one, with an initial value that must count once";
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
    if (node.kind != operation::argument) refuse(reason_of(node.kind));
    auto const* const argument = plan_.find(node.name);
    if (argument->role == argument_role::input) arrays_.insert(node.name);
    if (argument->role == argument_role::size) sizes_.insert(node.name);
  }
  [[noreturn]] void refuse(std::string const& reason) const
  {
    refuse_split(plan_,
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
    refuse_split(plan, fmt::format("it does not state what {} is computed by", output.name));
  operand_walk walk(plan, *place);
  auto const is_count =
      place->value.kind == operation::count || place->value.kind == operation::histogram;
  if (is_count)
    for (auto const& operand : place->value.operands) walk.visit(operand);
  else
    walk.visit(place->value);
  if (is_count && !(output.type && detail::is_integer(*output.type)))
    walk.refuse(fmt::format("counts into {}, whose elements are not integers", output.name));
  if (!output.length.empty()) walk.refuse("has a length that the launches determine");
  if (walk.arrays().empty()) walk.refuse("is made of no array");
  auto const size = plan.find(*walk.arrays().begin())->shape.front();
  if (split.size.empty()) split.size = size;
  for (auto const& name : walk.arrays())
    if (!is_divisible(plan, *plan.find(name), split.size))
      walk.refuse(fmt::format("takes {}, whose slowest extent is not {}", name, split.size));
  if (walk.sizes().contains(split.size)) walk.refuse(fmt::format("depends on {}", split.size));
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
      refuse_split(plan, fmt::format("the extents of {} do not follow from a part of {}",
                                     argument.name, split.size));
  }
}

/// The part of `whole`, whose `count` rows are divided.
host_array slice(host_array const& whole, std::size_t count, element_part const& part)
{
  auto const row = whole.bytes.size() / count;
  auto const begin = whole.bytes.begin() + static_cast<std::ptrdiff_t>(part.first * row);
  host_array array{.type = whole.type, .extents = whole.extents};
  array.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(part.count * row));
  if (array.extents.size() > 1 && array.extents.front() == count)
    array.extents.front() = part.count;
  else
    array.extents = {array.count()};
  return array;
}

/// @throws usage_error the array of --expect has no whole number of elements for each row.
void check_expected(plan_split const& split, std::string const& name, host_array const& array,
                    std::size_t count)
{
  if (!split.divided.contains(name))
    fail_usage(fmt::format("--expect {}: {} is the sum of what several devices count, and is not "
                           "compared",
                           name, name),
               name, "run it on one device, or leave out --expect");
  if (array.count() % count != 0 || array.count() == 0)
    fail_usage(fmt::format("--expect {}: the array has {} elements, which {} = {} does not divide",
                           name, array.count(), split.size, count),
               name, "pass the expected result for these inputs and sizes");
}

}  // namespace

plan_split split_of(launch_plan const& plan)
{
  plan_split split;
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::output) add_output(split, plan, argument);
  auto const* const size = plan.find(split.size);
  if (size == nullptr || size->role != argument_role::size)
    refuse_split(plan, fmt::format("'{}', the extent of its arrays, is not a size", split.size));
  check_other_arrays(split, plan);
  return split;
}

std::vector<run_data> divide_data(launch_plan const& plan, plan_split const& split, run_data& whole,
                                  std::vector<element_part> const& parts)
{
  if (!whole.of_device.empty())
    refuse_split(plan,
                 fmt::format("the extent of {} depends on the device", whole.of_device.front()));
  auto const count = static_cast<std::size_t>(whole.sizes.at(split.size));
  std::vector<run_data> list(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    list[i].sizes = whole.sizes;
    list[i].sizes[split.size] = static_cast<std::int64_t>(parts[i].count);
    list[i].values = whole.values;
    list[i].states = whole.states;
  }
  for (auto& [name, array] : whole.inputs) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      list[i].inputs[name] = split.divided.contains(name) ? slice(array, count, parts[i]) : array;
    array.bytes = {};  // only the parts are needed
  }
  for (auto const& [name, array] : whole.expected) {
    check_expected(split, name, array, count);
    for (std::size_t i = 0; i < parts.size(); ++i)
      list[i].expected[name] = slice(array, count, parts[i]);
  }
  return list;
}

}  // namespace fatlink::cli
