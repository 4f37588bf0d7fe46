// SPDX-License-Identifier: Apache-2.0
#include "run/plan_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "options.hpp"
#include "plan/encode_value.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"

namespace fatlink::cli {
namespace {

std::vector<std::string> field_names(element_type const& type)
{
  std::vector<std::string> names;
  for (auto const& field : type.fields) names.push_back(field.name);
  return names;
}

/// Sets the fields of a state that --set names.
void set_fields(std::vector<std::byte>& bytes, element_type const& type, std::string const& name,
                nlohmann::json const& fields)
try {
  for (auto const& [key, value] : fields.items()) {
    auto const field = std::ranges::find(type.fields, key, &element_field::name);
    if (field == type.fields.end())
      fail_usage(fmt::format("--set {}: the state has no field '{}'", name, key), name,
                 field_hint(field_names(type), key));
    auto const encoded = detail::encode_value(field->type, value);
    std::ranges::copy(encoded, bytes.begin() + static_cast<std::ptrdiff_t>(field->offset));
  }
} catch (std::invalid_argument const& cause) {
  fail_value(name, cause.what());
}

/// A sidecar that describes the hook of `argument` and states no state; null if none does, or what
/// no sidecar describes may read a state. The library's counts if every transform has a sidecar:
/// no other replaces its hooks unseen.
transform_reference const* find_stateless(plan_argument const& argument,
                                          plan_references const& references)
{
  auto const& list = references.list;
  auto const count =
      references.has_library && references.is_incomplete ? list.size() - 1 : list.size();
  for (auto const& reference : std::span(list).first(count))
    if (reference.states_hooks && reference.find(argument.hook) != nullptr) return &reference;
  auto const is_known = argument.hook.empty() && !references.is_incomplete && !list.empty();
  return is_known ? &list.front() : nullptr;
}

/// The bytes of a file of --state. Without an owner nothing says how many they are.
std::vector<std::byte> read_state(plan_argument const& argument, std::string const& file,
                                  plan_references const& references)
{
  auto bytes = detail::read_file(file, limits::k_file_bytes, "pass a file with the state's bytes");
  if (auto const* const owner = owner_of(argument, references.list); owner != nullptr) {
    if (bytes.size() != owner->types.state->size)
      fail_usage(
          fmt::format("--state {}: {} has {} bytes, and the state of {} has {}", argument.name,
                      file, bytes.size(), owner->name, owner->types.state->size),
          file,
          fmt::format("write the fields of {}'s \"state\" as its struct has them, padding too",
                      owner->file));
  } else if (auto const* const stateless = find_stateless(argument, references)) {
    fail_usage(fmt::format("--state {}: {} states no \"state\"", argument.name, stateless->file),
               file, "leave out --state; or, if the hook reads one, state its fields there");
  }
  return bytes;
}

}  // namespace

[[noreturn]] void fail_value(std::string const& name, std::string const& cause)
{
  fail_usage(
      fmt::format("--set {}: {}", name, cause), name,
      "state a value of the argument's type; of a struct the fields for which the plan has no "
      "default");
}

transform_reference const* owner_of(plan_argument const& state,
                                    std::vector<transform_reference> const& transforms)
{
  for (auto const& transform : transforms)
    if (transform.types.state && (state.hook.empty() || transform.find(state.hook) != nullptr))
      return &transform;
  return nullptr;
}

std::vector<std::byte> state_of(plan_argument const& argument, plan_arguments const& arguments,
                                plan_references const& references)
{
  auto const* const owner = owner_of(argument, references.list);
  auto const file = arguments.states.find(argument.name);
  auto const fields = arguments.values.find(argument.name);
  std::vector<std::byte> bytes;
  if (file != arguments.states.end())
    bytes = read_state(argument, file->second, references);
  else if (owner != nullptr)
    bytes = owner->types.default_state;
  if (fields == arguments.values.end()) return bytes;
  if (owner == nullptr)
    fail_usage(fmt::format("--set {}: no transform states the fields of its state", argument.name),
               argument.name,
               fmt::format(
                   "if the hook reads a state, state its fields in the .json beside the transform: "
                   "\"state\": [{{\"name\": …, \"type\": …}}, …]; else leave out --set {}.…",
                   argument.name));
  set_fields(bytes, *owner->types.state, argument.name, fields->second);
  return bytes;
}

}  // namespace fatlink::cli
