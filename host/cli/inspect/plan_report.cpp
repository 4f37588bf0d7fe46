// SPDX-License-Identifier: Apache-2.0
#include "inspect/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/check_plan.hpp"

namespace fatlink::cli {
namespace {

using strings = std::vector<std::string>;

std::string type_of(plan_argument const& argument)
{
  if (argument.role == argument_role::state) return "pointer";
  return argument.type ? to_string(*argument.type) : "element";
}

/// The structs of the plan's arguments, by name.
nlohmann::json describe_types(launch_plan const& plan)
{
  auto types = nlohmann::json::object();
  for (auto const& argument : plan.arguments) {
    if (!argument.type || argument.type->fields.empty()) continue;
    auto& fields = types[to_string(*argument.type)] = nlohmann::json::array();
    for (auto const& field : argument.type->fields)
      fields.push_back({{"name", field.name}, {"type", to_string(field.type)}});
  }
  return types;
}

nlohmann::json describe_argument(plan_argument const& argument)
{
  nlohmann::json json{
      {"name", argument.name}, {"role", to_string(argument.role)}, {"type", type_of(argument)}};
  if (!argument.shape.empty()) json["shape"] = argument.shape;
  if (!argument.length.empty()) json["length"] = argument.length;
  if (argument.alignment != 0) json["alignment"] = argument.alignment;
  if (!argument.hook.empty()) json["hook"] = argument.hook;
  if (!argument.may_overlap.empty()) json["may_overlap"] = argument.may_overlap;
  if (argument.default_value) json["default"] = *argument.default_value;
  return json;
}

nlohmann::json describe_launch(launch_plan const& plan, plan_launch const& launch)
{
  auto arguments = nlohmann::json::array();
  for (auto const& argument : launch.arguments)
    arguments.push_back(argument.argument.empty() ? argument.formula : argument.argument);
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared", launch.shared_bytes},
          {"overlap", launch.overlap},
          {"arguments", arguments},
          {"signature", detail::launch_signature(plan, launch)}};
}

/// "blocks x 2": without dimensions of 1 at the end.
std::string describe_extent(nlohmann::json const& extent)
{
  auto formulas = extent.get<strings>();
  while (formulas.size() > 1 && formulas.back() == "1") formulas.pop_back();
  return fmt::format("{}", fmt::join(formulas, " x "));
}

void print_line(std::string const& title, std::string const& text)
{
  fmt::print("    {:<11} {}\n", title, text);
}

/// "type  range: struct {low: float32, stride: int32}"
void print_type(std::string const& name, nlohmann::json const& fields)
{
  strings list;
  for (auto const& field : fields)
    list.push_back(
        fmt::format("{}: {}", field["name"].get<std::string>(), field["type"].get<std::string>()));
  print_line("type", fmt::format("{}: struct {{{}}}", name, fmt::join(list, ", ")));
}

void print_argument(nlohmann::json const& argument)
{
  auto const shape = argument.value("shape", strings{});
  auto const count = shape.empty() ? std::string{} : fmt::format("[{}]", fmt::join(shape, ", "));
  auto const length =
      argument.contains("length")
          ? fmt::format(", the first {} are results", argument["length"].get<std::string>())
          : std::string{};
  auto const default_value =
      argument.contains("default") ? " = " + argument["default"].get<std::string>() : std::string{};
  auto const alignment =
      argument.contains("alignment")
          ? fmt::format(", aligned to {} bytes", argument["alignment"].get<std::size_t>())
          : std::string{};
  auto const hook = argument.contains("hook")
                        ? fmt::format(", of hook {}", argument["hook"].get<std::string>())
                        : std::string{};
  print_line(argument["role"].get<std::string>(),
             fmt::format("{}: {}{}{}{}{}{}", argument["name"].get<std::string>(),
                         argument["type"].get<std::string>(), count, length, default_value, hook,
                         alignment));
}

void print_launch(nlohmann::json const& launch)
{
  auto const shared = launch["shared"].get<std::string>();
  print_line("launch",
             fmt::format("{}, grid {}, block {}{}{}", launch["signature"].get<std::string>(),
                         describe_extent(launch["grid"]), describe_extent(launch["block"]),
                         shared == "0" ? "" : fmt::format(", shared {}", shared),
                         launch["overlap"].get<bool>() ? ", overlaps the launch before" : ""));
}

}  // namespace

nlohmann::json to_json(launch_plan const& plan)
{
  nlohmann::json json{{"name", plan.name},
                      {"summary", plan.summary},
                      {"file", plan.file},
                      {"types", describe_types(plan)},
                      {"arguments", nlohmann::json::array()},
                      {"let", nlohmann::json::object()},
                      {"let_order", nlohmann::json::array()},
                      {"launches", nlohmann::json::array()},
                      {"computes", nlohmann::json::object()},
                      {"depth", nlohmann::json::object()}};
  if (!plan.contract.empty()) json["contract"] = plan.contract;
  for (auto const& argument : plan.arguments)
    json["arguments"].push_back(describe_argument(argument));
  for (auto const& let : plan.lets) {
    json["let"][let.name] = let.formula;
    json["let_order"].push_back(let.name);
  }
  for (auto const& launch : plan.launches)
    json["launches"].push_back(describe_launch(plan, launch));
  for (auto const& result : plan.results) {
    json["computes"][result.output] = to_string(result.value);
    if (result.depth) json["depth"][result.output] = *result.depth;
  }
  return json;
}

void print_plan(nlohmann::json const& plan)
{
  auto const contract = plan.value("contract", "");
  fmt::print("  plan {}: {}{}\n", plan["name"].get<std::string>(),
             plan["summary"].get<std::string>(),
             contract.empty() ? "" : fmt::format(" (contract {})", contract));
  for (auto const& [name, fields] : plan["types"].items()) print_type(name, fields);
  for (auto const& argument : plan["arguments"]) print_argument(argument);
  for (auto const& name : plan["let_order"].get<strings>())
    print_line("let", fmt::format("{} = {}", name, plan["let"][name].get<std::string>()));
  for (auto const& launch : plan["launches"]) print_launch(launch);
  for (auto const& [output, text] : plan["computes"].items())
    print_line("computes", fmt::format("{} = {}", output, text.get<std::string>()));
  for (auto const& [output, formula] : plan["depth"].items())
    print_line("depth", fmt::format("{} = {}", output, formula.get<std::string>()));
}

}  // namespace fatlink::cli
