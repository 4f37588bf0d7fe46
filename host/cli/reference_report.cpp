// SPDX-License-Identifier: Apache-2.0
#include "reference_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fatlink/error.hpp"
#include "plan/components.hpp"
#include "util/text/printable.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {
namespace {

using strings = std::vector<std::string>;

nlohmann::json describe_hook(hook_reference const& hook)
{
  auto result = nlohmann::json::array();
  for (auto const& part : hook.result)
    result.push_back({{"field", part.field}, {"expression", part.text}});
  return {{"hook", hook.hook},
          {"parameters", hook.parameters},
          {"result", std::move(result)},
          {"type", hook.type ? nlohmann::json(to_string(*hook.type)) : nlohmann::json()},
          {"tolerance",
           {{"ulp", hook.tolerance.ulp},
            {"absolute", hook.tolerance.absolute},
            {"relative", hook.tolerance.relative},
            {"operands", hook.tolerance.operands}}}};
}

/// The numbers of the state, in the order of their offsets.
nlohmann::json describe_state(detail::transform_types const& types)
{
  auto state = nlohmann::json::array();
  if (!types.state) return state;
  for (auto const& part : detail::components_of(*types.state)) {
    auto const* const place = types.default_state.data() + part.offset;
    state.push_back({{"name", part.name},
                     {"type", to_string(part.kind)},
                     {"offset", part.offset},
                     {"default", detail::to_text(part.kind, detail::load(part.kind, place))}});
  }
  return state;
}

nlohmann::json describe_stated(transform_reference const& stated)
{
  auto hooks = nlohmann::json::array();
  for (auto const& hook : stated.hooks) hooks.push_back(describe_hook(hook));
  auto const& element = stated.types.element;
  return {{"file", stated.file},
          {"problem", ""},
          {"hooks", std::move(hooks)},
          {"state", describe_state(stated.types)},
          {"state_bytes", stated.types.state ? stated.types.state->size : 0},
          {"element", element ? nlohmann::json(to_string(*element)) : nlohmann::json()},
          {"error_model", to_string(stated.model)}};
}

nlohmann::json describe_problem(error const& failure)
{
  return {{"file", failure.details().input},
          {"problem", failure.what()},
          {"hooks", nlohmann::json::array()},
          {"state", nlohmann::json::array()},
          {"state_bytes", 0},
          {"element", nullptr},
          {"error_model", to_string(error_model::none)}};
}

/// "state.scale * x", or of structs "{value: abs(x), index: index}".
std::string result_text(nlohmann::json const& hook)
{
  strings parts;
  bool is_struct = false;
  for (auto const& part : hook["result"]) {
    auto const field = part["field"].get<std::string>();
    is_struct = !field.empty();
    parts.push_back((is_struct ? field + ": " : "") + part["expression"].get<std::string>());
  }
  auto const text = fmt::format("{}", fmt::join(parts, ", "));
  return is_struct ? "{" + text + "}" : text;
}

/// "exact", or "± 2 ulp, 1e-06 absolute".
std::string tolerance_text(nlohmann::json const& tolerance)
{
  strings parts;
  for (auto const* const key : {"ulp", "absolute", "relative", "operands"})
    if (auto const value = tolerance[key].get<double>(); value != 0)
      parts.push_back(fmt::format("{:g} {}", value, key));
  return parts.empty() ? "exact" : fmt::format("± {}", fmt::join(parts, ", "));
}

std::string hook_text(nlohmann::json const& hook)
{
  return fmt::format("{}({}) = {}  ({})", hook["hook"].get<std::string>(),
                     fmt::join(hook["parameters"].get<strings>(), ", "), result_text(hook),
                     tolerance_text(hook["tolerance"]));
}

template <typename File>
nlohmann::json describe_beside(File const& file)
try {
  auto const stated = transform_reference::beside(file);
  return stated ? describe_stated(*stated) : nlohmann::json();
} catch (error const& failure) {
  return describe_problem(failure);
}

}  // namespace

nlohmann::json describe_reference(std::filesystem::path const& file)
{
  return describe_beside(file);
}

nlohmann::json describe_reference(input const& file)
{
  return describe_beside(file);
}

std::vector<std::pair<std::string, std::string>> reference_lines(nlohmann::json const& reference)
{
  std::vector<std::pair<std::string, std::string>> lines;
  auto const add = [&](char const* title, std::string const& text) {
    lines.emplace_back(title, detail::printable(text));
  };
  if (auto const problem = reference["problem"].get<std::string>(); !problem.empty())
    add("unusable", problem);
  for (auto const& hook : reference["hooks"]) add("computes", hook_text(hook));
  for (auto const& number : reference["state"])
    add("state",
        fmt::format("{}: {} = {}", number["name"].get<std::string>(),
                    number["type"].get<std::string>(), number["default"].get<std::string>()));
  if (!reference["element"].is_null()) add("element", reference["element"].get<std::string>());
  if (auto const model = reference["error_model"].get<std::string>(); model != "none")
    add("errors", model);
  return lines;
}

}  // namespace fatlink::cli
