// SPDX-License-Identifier: Apache-2.0
#include "plan/bind_types.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "fatbin/json_file.hpp"
#include "fatlink/error.hpp"
#include "input/find_sidecar.hpp"
#include "plan/components.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_fields = 4096;  // of one byte each, as large as a struct may be

element_type read_type(json_place const& member)
{
  auto const text = member.text();
  auto const type = parse_element_type(text);
  if (type) return *type;
  std::vector<std::string> known;
  for (auto kind = scalar_kind::float16; kind < scalar_kind::bytes;
       kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
    known.emplace_back(to_string(kind));
  member.fail_unknown("type", text, known);
}

/// Writes one number of a default.
void put(json_place const& stated, nlohmann::json const& value, scalar_kind kind, std::byte* place)
{
  if (!value.is_number()) stated.fail("is of the wrong type", "write a number");
  number stored{.real = value.get<double>()};
  if (is_integer(kind)) {
    if (value.is_number_unsigned())
      stored = whole_number(value.get<std::uint64_t>());
    else if (value.is_number_integer())
      stored = whole_number(value.get<std::int64_t>());
    else
      stated.fail(detail::format("is not a whole number, as {} is", to_string(kind)),
                  "write a number without a fraction");
    if (wrapped(kind, stored.whole) != stored.whole)
      stated.fail(detail::format("is out of the range of {}", to_string(kind)),
                  "write a number in the range of the type");
  } else if (std::abs(stored.real) >= format_of(kind).overflow()) {
    stated.fail(detail::format("is out of the range of {}", to_string(kind)),
                "write a number in the range of the type");
  }
  store(kind, stored, place);
}

void put_default(json_place const& stated, element_type const& type, std::byte* place)
{
  auto const parts = components_of(type);
  auto const& value = stated.value();
  if (parts.size() == 1) return put(stated, value, parts.front().kind, place);
  if (!value.is_array() || value.size() != parts.size())
    stated.fail("is of the wrong type", "write [real, imaginary]");
  for (std::size_t i = 0; i < parts.size(); ++i)
    put(stated, value[i], parts[i].kind, place + parts[i].offset);
}

}  // namespace

element_type read_record(json_place const& list, std::string const& name,
                         std::vector<std::string> const& keys)
{
  std::vector<std::string> names;
  std::vector<element_type> types;
  for (auto const& field : list.not_empty().elements(k_most_fields)) {
    field.check_keys(keys);
    names.push_back(field.member("name").identifier());
    types.push_back(read_type(field.member("type")));
  }
  try {
    return record_type(name, names, types);
  } catch (usage_error const& refused) {
    list.fail(detail::format("is not a struct: {}", refused.what()), refused.details().hint);
  }
}

transform_types transform_types::read(json_place const& sidecar)
{
  transform_types types;
  if (auto const element = sidecar.find("element"))
    types.element = element->value().is_string() ? read_type(*element)
                                                 : read_record(*element, {}, {"name", "type"});
  auto const state = sidecar.find("state");
  if (!state) return types;
  types.state = read_record(*state, {}, {"name", "type", "default"});
  types.default_state.resize(types.state->size);
  auto const list = state->elements(k_most_fields);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (auto const stated = list[i].find("default")) {
      auto const& field = types.state->fields[i];
      put_default(*stated, field.type, types.default_state.data() + field.offset);
    }
  return types;
}

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

/// Whether `recorded` is a struct of which only the size is known, as an ident states it.
bool lacks_fields(element_type const& recorded, element_type const& stated)
{
  return recorded.kind == scalar_kind::bytes && recorded.size == stated.size;
}

/// The record of the argument by itself, "map_element_out", or else that of its hook, which also
/// has the fields of a struct where the sidecar states them.
std::optional<element_type> type_of(launch_plan const& plan, plan_argument const& argument,
                                    hook_elements const& elements)
{
  if (argument.hook.empty()) return common_type(plan, argument.name, elements);
  auto const of_hook = elements.find(argument.hook);
  auto const own = elements.find(argument.hook + "_" + argument.name);
  if (own != elements.end() &&
      (of_hook == elements.end() || !lacks_fields(own->second, of_hook->second)))
    return own->second;
  if (of_hook == elements.end()) return std::nullopt;
  return of_hook->second;
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

/// What the idents of modules record.
struct element_records {
  hook_elements types = {};
  /// Hooks with a record of a default definition only, which a module without a record replaces.
  std::set<std::string, std::less<>> replaced = {};
};

bool defines(fatbin const& module, std::string const& hook)
{
  auto const& definitions = interface_of_any(module).definitions;
  return std::ranges::find(definitions, hook, &ptx_function::name) != definitions.end();
}

element_records records_of(std::span<fatbin const> modules)
{
  element_records records;
  for (auto const& module : modules) {
    for (auto const& [hook, type] : records.types)
      if (defines(module, hook)) records.replaced.insert(hook);
    if (!module.ident()) continue;
    for (auto const& [hook, element] : module.ident()->elements) {
      records.types.insert_or_assign(hook, element_type_of(element));
      records.replaced.erase(hook);
    }
  }
  for (auto const& hook : records.replaced) records.types.erase(hook);
  return records;
}

/// What a sidecar states of the elements of its hooks.
struct stated_elements {
  std::string file = {};
  std::vector<std::string> hooks = {};
  element_type type = {};
};

/// Nothing where `file` has no sidecar with "hooks" and "element".
std::optional<stated_elements> elements_beside(input const& file)
{
  auto const sidecar = sidecar_of(file);
  if (!sidecar) return std::nullopt;
  json_place const whole(sidecar->json(), sidecar->name(), error_code::invalid_sidecar);
  auto const hooks = whole.find("hooks");
  auto const type = transform_types::read(whole).element;
  if (!hooks || !type) return std::nullopt;
  stated_elements stated{.file = sidecar->name(), .type = *type};
  for (auto const& [hook, member] : hooks->not_empty().members(k_most_hooks))
    stated.hooks.push_back(hook);
  return stated;
}

/// @throws file_error the sidecar's type is not the one that the same input records.
void check_record(stated_elements const& stated, std::string const& hook,
                  element_type const& recorded)
{
  if (recorded == stated.type || lacks_fields(recorded, stated.type)) return;
  throw file_error(
      stage::sidecar,
      {.message = detail::format(R"({}: "element" is {}, and the code records {} for {})",
                                 stated.file, to_string(stated.type), to_string(recorded), hook),
       .input = stated.file,
       .code = error_code::invalid_sidecar,
       .hint = R"(state the type of FATLINK_ELEMENT, or leave out "element")"});
}

/// Adds what the sidecar of a transform states, except of hooks in `others`, which an earlier
/// transform states. Of its own records only structs without fields are replaced.
void add_transform(hook_elements& elements, input const& transform, std::set<std::string>& others)
{
  auto const stated = elements_beside(transform);
  if (!stated) return;
  auto const own = records_of(transform.modules()).types;
  for (auto const& hook : stated->hooks) {
    if (auto const record = own.find(hook); record != own.end())
      check_record(*stated, hook, record->second);
    if (others.insert(hook).second) elements.insert_or_assign(hook, stated->type);
  }
}

/// Adds what the sidecar of the library states of hooks that no transform fills, and of which
/// nothing is known, or only the size of a struct.
void add_library(element_records& records, input const& library)
{
  auto const stated = elements_beside(library);
  if (!stated) return;
  for (auto const& hook : stated->hooks) {
    auto const place = records.types.find(hook);
    if (records.replaced.contains(hook)) continue;
    if (place == records.types.end() || lacks_fields(place->second, stated->type))
      records.types.insert_or_assign(hook, stated->type);
  }
}

}  // namespace

hook_elements elements_of(std::span<fatbin const> modules, std::span<input const> inputs)
{
  auto records = records_of(modules);
  std::set<std::string> stated;
  for (std::size_t i = 1; i < inputs.size(); ++i) add_transform(records.types, inputs[i], stated);
  if (!inputs.empty()) add_library(records, inputs.front());
  return std::move(records.types);
}

hook_elements elements_of(std::span<fatbin const> modules)
{
  return records_of(modules).types;
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
