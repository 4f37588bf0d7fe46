// SPDX-License-Identifier: Apache-2.0
#include "run/cut_outputs.hpp"

#include <limits>
#include <optional>

#include "plan/components.hpp"
#include "plan/output_lengths.hpp"

namespace fatlink::cli {
namespace {

using integer_values = std::map<std::string, detail::int128>;

/// The outputs that hold one integer.
integer_values held_integers(launch_plan const& plan,
                             std::map<std::string, host_array> const& outputs)
{
  integer_values values;
  for (auto const& argument : plan.arguments) {
    if (!detail::holds_length(argument)) continue;
    auto const& array = outputs.at(argument.name);
    values[argument.name] = detail::load(array.type.kind, array.bytes.data()).whole;
  }
  return values;
}

bool is_in_range(detail::int128 value)
{
  return value <= std::numeric_limits<std::int64_t>::max();
}

/// The plan without the outputs whose integer exceeds the range of formulas: a formula that uses
/// one has no value.
launch_plan without_large(launch_plan plan, integer_values const& held)
{
  std::erase_if(plan.arguments, [&](plan_argument const& argument) {
    auto const place = held.find(argument.name);
    return place != held.end() && !is_in_range(place->second);
  });
  return plan;
}

/// Why the length of `output` is not one: its value, if it is the integer of another output.
std::string describe_length(plan_argument const& output, std::optional<std::int64_t> length,
                            integer_values const& held)
{
  if (length) return std::to_string(*length);
  auto const place = held.find(output.length);
  if (place == held.end()) return "the formula has no value";
  return detail::to_text(scalar_kind::uint64, detail::whole_number(place->second));
}

/// Returns whether `length` is a number of elements of `array`.
bool cut(host_array& array, std::optional<std::int64_t> length)
{
  if (!length || *length < 0 || static_cast<std::uint64_t>(*length) > array.count()) return false;
  array.bytes.resize(static_cast<std::size_t>(*length) * array.type.size);
  array.extents = {static_cast<std::size_t>(*length)};
  return true;
}

}  // namespace

void cut_outputs(launch_plan const& plan, std::map<std::string, std::int64_t> const& sizes,
                 std::map<std::string, host_array>& outputs)
{
  auto const held = held_integers(plan, outputs);
  auto const known = without_large(plan, held);
  auto values = sizes;
  for (auto const& [name, value] : held)
    if (is_in_range(value)) values[name] = static_cast<std::int64_t>(value);
  for (auto const& argument : plan.arguments) {
    if (argument.length.empty()) continue;
    auto const length = detail::compute_length(known, argument, values);
    auto& array = outputs.at(argument.name);
    if (!cut(array, length)) array.wrong_length = describe_length(argument, length, held);
  }
}

}  // namespace fatlink::cli
