// SPDX-License-Identifier: Apache-2.0
#include "plan/output_lengths.hpp"

#include <algorithm>
#include <vector>

#include "expression/formula.hpp"
#include "plan/launch_limits.hpp"
#include "plan/plan_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The arguments that the length of `output` may use, in the order of the plan.
std::vector<plan_argument const*> length_operands(launch_plan const& plan,
                                                  plan_argument const& output)
{
  std::vector<plan_argument const*> operands;
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::size ||
        (holds_length(argument) && argument.name != output.name))
      operands.push_back(&argument);
  return operands;
}

formula parse_length(std::vector<plan_argument const*> const& operands, std::string const& text)
{
  formula_symbols symbols;
  for (std::size_t i = 0; i < operands.size(); ++i)
    symbols[operands[i]->name] = {.value = static_cast<std::int64_t>(i)};
  return {text, symbols};
}

void check_length(launch_plan const& plan, plan_argument const& output)
{
  auto const operands = length_operands(plan, output);
  auto const length = parse_length(operands, output.length);
  auto const uses_output = std::ranges::any_of(length.uses(), [&](std::size_t index) {
    return operands[index]->role == argument_role::output;
  });
  if (!uses_output)
    throw expression_error("uses no other output of one integer",
                           R"(state it as "count", or name the output that holds the length)");
}

}  // namespace

bool holds_length(plan_argument const& argument)
{
  return argument.role == argument_role::output && argument.length.empty() && argument.type &&
         is_integer(*argument.type) && argument.shape == std::vector<formula_text>{"1"};
}

void check_lengths(launch_plan const& plan)
{
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    auto const& output = plan.arguments[i];
    if (output.length.empty()) continue;
    try {
      check_length(plan, output);
    } catch (expression_error const& error) {
      fail_formula(plan.file, detail::format("arguments[{}].length", i), output.length, error);
    }
  }
}

std::optional<std::int64_t> compute_length(launch_plan const& plan, plan_argument const& output,
                                           std::map<std::string, std::int64_t> const& values)
try {
  auto const operands = length_operands(plan, output);
  std::vector<std::int64_t> operand_values;
  for (auto const* const operand : operands) operand_values.push_back(values.at(operand->name));
  return parse_length(operands, output.length).evaluate(operand_values.data());
} catch (expression_error const&) {
  return std::nullopt;
}

}  // namespace fatlink::detail
