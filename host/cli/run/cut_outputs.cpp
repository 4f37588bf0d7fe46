// SPDX-License-Identifier: Apache-2.0
#include "run/cut_outputs.hpp"

#include <fmt/format.h>

#include "plan/components.hpp"
#include "plan/output_lengths.hpp"

namespace fatlink::cli {
namespace {

std::int64_t integer_in(host_array const& array)
{
  return static_cast<std::int64_t>(detail::load(array.type.kind, array.bytes.data()).whole);
}

void cut(host_array& array, std::optional<std::int64_t> length)
{
  if (length && *length >= 0 && static_cast<std::uint64_t>(*length) <= array.count()) {
    array.bytes.resize(static_cast<std::size_t>(*length) * array.type.size);
    array.extents = {static_cast<std::size_t>(*length)};
  } else {
    array.wrong_length = length ? fmt::format("{}", *length) : "no number";
  }
}

}  // namespace

void cut_outputs(launch_plan const& plan, std::map<std::string, std::int64_t> const& sizes,
                 std::map<std::string, host_array>& outputs)
{
  auto values = sizes;
  for (auto const& argument : plan.arguments)
    if (detail::holds_length(argument))
      values[argument.name] = integer_in(outputs.at(argument.name));
  for (auto const& argument : plan.arguments)
    if (!argument.length.empty())
      cut(outputs.at(argument.name), detail::compute_length(plan, argument, values));
}

}  // namespace fatlink::cli
