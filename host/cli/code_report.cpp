// SPDX-License-Identifier: Apache-2.0
#include "code_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "error_report.hpp"
#include "fatbin/ident.hpp"
#include "fatlink/error.hpp"
#include "options.hpp"
#include "plan/components.hpp"
#include "util/text/format.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {
namespace {

nlohmann::json kernel_to_json(kernel_resources const& kernel)
{
  nlohmann::json json{{"kernel", kernel.name},
                      {"registers", kernel.registers},
                      {"max_registers", kernel.max_registers},
                      {"frame_bytes", kernel.frame_bytes},
                      {"static_shared_bytes", kernel.static_shared_bytes},
                      {"parameter_bytes", kernel.parameter_bytes},
                      {"constant_bytes", kernel.constant_bytes}};
  if (kernel.stack_bytes) json["stack_bytes"] = *kernel.stack_bytes;
  if (kernel.local_store_bytes) json["local_store_bytes"] = *kernel.local_store_bytes;
  if (kernel.local_load_bytes) json["local_load_bytes"] = *kernel.local_load_bytes;
  if (kernel.max_block_threads != 0) json["max_block_threads"] = kernel.max_block_threads;
  if (kernel.required_block[0] != 0) json["required_block"] = kernel.required_block;
  return json;
}

/// "208", or "unknown" for what is absent.
std::string text_of(nlohmann::json const& kernel, char const* key)
{
  auto const value = kernel.find(key);
  return value == kernel.end() ? "unknown" : std::to_string(value->get<std::uint64_t>());
}

}  // namespace

std::string entry_name(fatbin_entry const& entry)
{
  return fmt::format("{}:{}", name_of(entry.kind), entry.target.name());
}

std::string entry_names(fatbin const& code, char const* separator)
{
  std::vector<std::string> names;
  for (auto const& entry : code.entries()) names.push_back(entry_name(entry));
  return fmt::format("{}", fmt::join(names, separator));
}

std::string contract_name(fatbin const& code)
{
  auto const& ident = code.ident();
  return ident && !ident->contract.empty() ? detail::contract_of(*ident) : "none";
}

void add_resources(CLI::App& verb, bool& resources)
{
  verb.add_flag(
      "--resources", resources,
      "show the resources of each kernel; registers, stack, local, shared and constant memory");
}

void refuse_resources(std::string const& cause, std::string const& remedy)
{
  fail_usage(fmt::format("--resources: this option has no effect {}: only a cubin states resources",
                         cause),
             "--resources", fmt::format("{}, or leave out --resources", remedy),
             error_code::option_has_no_effect);
}

nlohmann::json describe_resources(std::vector<kernel_resources> const& kernels)
{
  auto list = nlohmann::json::array();
  for (auto const& kernel : kernels) list.push_back(kernel_to_json(kernel));
  return list;
}

void print_resources(nlohmann::json const& kernels, char const* indentation)
{
  for (auto const& kernel : kernels) {
    auto const is_linked = kernel.contains("stack_bytes");
    fmt::print(
        "{}{}: {} registers; bytes: {} {}, {} local stores, {} local loads, {} shared, {} "
        "constant\n",
        indentation, kernel["kernel"], text_of(kernel, "registers"),
        text_of(kernel, is_linked ? "stack_bytes" : "frame_bytes"), is_linked ? "stack" : "frame",
        text_of(kernel, "local_store_bytes"), text_of(kernel, "local_load_bytes"),
        text_of(kernel, "static_shared_bytes"), text_of(kernel, "constant_bytes"));
  }
}

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

nlohmann::json describe_error_of_code(error const& failure)
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
  return describe_error_of_code(failure);
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
