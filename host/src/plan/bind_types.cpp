// SPDX-License-Identifier: Apache-2.0
#include "plan/bind_types.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "input/stated_digest.hpp"
#include "plan/transform_types.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The type that all hooks agree on; nothing if none states one.
std::optional<element_type> common_type(launch_plan const& plan, std::string const& argument,
                                        hook_elements const& elements)
{
  if (elements.empty()) return std::nullopt;
  auto const& [first_hook, type] = *elements.begin();
  for (auto const& [hook, other] : elements)
    if (!(other == type))
      throw usage_error(
          {.message = detail::format(
               "argument {} of plan {} is of the type of an element, which is "
               "{} for {} and {} for {}",
               argument, plan.name, to_string(type), first_hook, to_string(other), hook),
           .input = plan.file,
           .code = error_code::invalid_argument,
           .hint =
               R"(state in the plan whose element it is: "hook": "NAME", or pass other transforms)"});
  return type;
}

std::optional<element_type> type_of(launch_plan const& plan, plan_argument const& argument,
                                    hook_elements const& elements)
{
  if (argument.hook.empty()) return common_type(plan, argument.name, elements);
  auto const place = elements.find(argument.hook);
  if (place == elements.end()) return std::nullopt;
  return place->second;
}

/// The one type of all elements in the plan; of a plan without, that of all hooks. Nothing if there
/// are several.
std::optional<element_type> element_of(std::vector<element_type> const& bound,
                                       hook_elements const& elements)
{
  auto types = bound;
  if (types.empty())
    for (auto const& [hook, type] : elements) types.push_back(type);
  auto const is_one = [&](element_type const& type) { return type == types.front(); };
  if (types.empty() || !std::ranges::all_of(types, is_one)) return std::nullopt;
  return types.front();
}

/// Adds what the sidecar of `file` states of hooks of which nothing is known, or only the size of a
/// struct.
void add_stated(hook_elements& elements, std::filesystem::path const& file)
{
  auto const path = find_sidecar(file);
  if (!path) return;
  auto const json = read_json(*path);
  sidecar_member const sidecar(json, path->string());
  auto const hooks = sidecar.find("hooks");
  auto const type = transform_types::read(sidecar).element;
  if (!hooks || !type) return;
  for (auto const& [hook, stated] : hooks->members(k_most_hooks)) {
    auto const place = elements.find(hook);
    if (place == elements.end() ||
        (place->second.kind == scalar_kind::bytes && place->second.size == type->size))
      elements.insert_or_assign(hook, *type);
  }
}

}  // namespace

hook_elements elements_of(std::span<fatbin const> modules, std::span<input const> inputs)
{
  auto elements = elements_of(modules);
  for (std::size_t i = 1; i <= inputs.size(); ++i)  // the library last
    add_stated(elements, inputs[i % inputs.size()].name());
  return elements;
}

hook_elements elements_of(std::span<fatbin const> modules)
{
  hook_elements elements;
  for (auto const& module : modules)
    if (auto const& ident = module.ident())
      for (auto const& [hook, element] : ident->elements)
        elements.insert_or_assign(hook, element_type_of(element));
  return elements;
}

launch_plan bind_types(launch_plan plan, hook_elements const& elements)
{
  std::vector<element_type> bound;
  for (auto& argument : plan.arguments) {
    if (argument.type || argument.role == argument_role::state) continue;
    argument.type = type_of(plan, argument, elements);
    if (argument.type) bound.push_back(*argument.type);
  }
  plan.element = element_of(bound, elements);
  return plan;
}

void require_types(launch_plan const& plan)
{
  for (auto const& argument : plan.arguments)
    if (!argument.type && argument.role != argument_role::state)
      throw usage_error(
          {.message = detail::format("the type of argument {} of plan {} is not known: no input "
                                     "states the type of the elements{}",
                                     argument.name, plan.name,
                                     argument.hook.empty() ? "" : " of " + argument.hook),
           .input = plan.file,
           .code = error_code::invalid_argument,
           .hint = "record it in the transform: #include <fatlink/element.cuh>, "
                   "FATLINK_ELEMENT(HOOK, TYPE); or state \"element\" in its .json"});
}

}  // namespace fatlink::detail
