// SPDX-License-Identifier: Apache-2.0
// "arguments" and "let" of a plan.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "plan/launch_limits.hpp"
#include "plan/read_default.hpp"
#include "plan/read_parts.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::array k_roles{argument_role::input, argument_role::output, argument_role::scratch,
                             argument_role::size,  argument_role::value,  argument_role::state};
constexpr std::size_t k_most_dimensions = 8;
constexpr std::uint64_t k_largest_alignment = 4096;  // bytes

argument_role read_role(json_place const& place)
{
  auto const text = place.text();
  std::vector<std::string> names;
  for (auto const role : k_roles) {
    if (text == to_string(role)) return role;
    names.emplace_back(to_string(role));
  }
  place.fail_unknown("role", text, names);
}

bool is_array(argument_role role)
{
  return role == argument_role::input || role == argument_role::output ||
         role == argument_role::scratch;
}

/// The keys that an argument of `role` has beside name and role.
std::vector<std::string> keys_of(argument_role role)
{
  std::vector<std::string> keys{"name", "role"};
  if (role != argument_role::state) keys.emplace_back("type");
  if (role != argument_role::size) keys.emplace_back("hook");
  if (is_array(role)) keys.insert(keys.end(), {"count", "shape"});
  if (role == argument_role::input || role == argument_role::output || role == argument_role::state)
    keys.emplace_back("alignment");
  if (role == argument_role::output) keys.insert(keys.end(), {"length", "may_overlap"});
  if (role == argument_role::value || role == argument_role::size) keys.emplace_back("default");
  return keys;
}

void check_keys(json_place const& place, argument_role role)
{
  static std::vector<std::string> const all{"name",  "role",     "type",        "count",
                                            "shape", "length",   "may_overlap", "default",
                                            "hook",  "alignment"};
  place.check_keys(all);
  auto const keys = keys_of(role);
  for (auto const& [key, ignored] : place.value().items())
    if (std::ranges::find(keys, key) == keys.end())
      place.fail(detail::format("\"{}\" has no meaning for an argument of the role {}", key,
                                to_string(role)),
                 "remove it, or state another role");
}

element_type read_size_type(json_place const& argument)
{
  auto const place = argument.find("type");
  if (!place) return scalar_type(scalar_kind::uint64);
  auto const text = place->text();
  auto const type = parse_element_type(text);
  if (!type || !is_integer(*type) || type->size < 4)
    place->fail_unknown("type of a size", text, {"uint64", "uint32", "int64", "int32"});
  return *type;
}

/// Nothing for "element".
std::optional<element_type> read_type(json_place const& place, plan_types const& types)
{
  auto const text = place.text();
  if (text == "element") return std::nullopt;
  if (auto const record = types.find(text); record != types.end()) return record->second;
  if (auto type = parse_element_type(text)) return type;
  std::vector<std::string> names{"element", "bytes8"};
  for (auto kind = scalar_kind::float16; kind != scalar_kind::bytes;
       kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
    names.emplace_back(to_string(kind));
  for (auto const& [name, record] : types) names.push_back(name);
  place.fail_unknown("type", text, names);
}

std::vector<formula_text> read_extents(json_place const& place)
{
  std::vector<formula_text> shape;
  for (auto const& extent : place.elements(k_most_dimensions)) shape.push_back(extent.formula());
  if (shape.empty()) place.fail("has no extent", R"(write at least two: ["height", "width"])");
  if (shape.size() == 1)
    place.fail("has one extent", detail::format(R"(write "count": "{}" instead)", shape[0]));
  return shape;
}

std::vector<formula_text> read_shape(json_place const& argument, argument_role role)
{
  auto const count = argument.find("count");
  auto const shape = argument.find("shape");
  if (count && shape)
    argument.fail(R"("count" and "shape" are both stated)", "state one of the two");
  if (shape) return read_extents(*shape);
  if (count) return {count->formula()};
  if (role == argument_role::output) return {"1"};
  argument.fail(R"("count" is missing)",
                R"(state how many elements the array has: "count": "n", or its "shape")");
}

/// Empty where it is not stated.
formula_text read_length(json_place const& place, plan_argument const& output)
{
  auto const length = place.find("length");
  if (!length) return {};
  if (output.shape.size() > 1)
    length->fail("has no meaning for an array with a \"shape\"",
                 "remove it, or state \"count\" instead of \"shape\"");
  return length->formula();
}

/// Empty where it is not stated.
std::string read_hook(json_place const& place, plan_argument const& argument)
{
  auto const hook = place.find("hook");
  if (!hook) return {};
  if (argument.type)
    hook->fail(R"("hook" has no meaning for an argument whose type is stated)",
               R"(remove it, or write "type": "element")");
  return hook->identifier();
}

/// 0 where it is not stated.
std::size_t read_alignment(json_place const& argument)
{
  auto const place = argument.find("alignment");
  if (!place) return 0;
  auto const& value = place->value();
  auto const bytes = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (!std::has_single_bit(bytes) || bytes > k_largest_alignment)
    place->fail(detail::format("{} is not an alignment", value.is_number() ? value.dump() : "it"),
                "write a power of two from 1 to 4096, in bytes");
  return bytes;
}

plan_argument read_argument(json_place const& place, plan_types const& types)
{
  if (!place.value().is_object()) place.check_keys({});
  plan_argument argument{.name = place.member("name").identifier(),
                         .role = read_role(place.member("role"))};
  check_keys(place, argument.role);
  check_free_name(place.member("name"), argument.name);
  if (types.contains(argument.name))
    place.member("name").fail(detail::format("\"{}\" is also the name of a type", argument.name),
                              "rename one of them");
  if (argument.role == argument_role::size)
    argument.type = read_size_type(place);
  else if (argument.role != argument_role::state)
    argument.type = read_type(place.member("type"), types);
  argument.hook = read_hook(place, argument);
  argument.alignment = read_alignment(place);
  if (is_array(argument.role)) argument.shape = read_shape(place, argument.role);
  argument.length = read_length(place, argument);
  if (auto const stated = place.find("default"))
    argument.default_value = read_default(*stated, argument);
  return argument;
}

/// "may_overlap", which may name later arguments.
void read_overlaps(json_place const& place, plan_argument& output,
                   std::vector<plan_argument> const& arguments)
{
  auto const list = place.find("may_overlap");
  if (!list) return;
  std::vector<std::string> names;
  for (auto const& other : arguments)
    if (other.name != output.name &&
        (other.role == argument_role::input || other.role == argument_role::output))
      names.push_back(other.name);
  for (auto const& item : list->elements(limits::k_plan_parts)) {
    auto const name = item.text();
    if (std::ranges::find(names, name) == names.end())
      item.fail_unknown("input or other output", name, names);
    output.may_overlap.push_back(name);
  }
}

}  // namespace

std::vector<plan_argument> read_arguments(json_place const& plan, plan_types const& types)
{
  auto const places = plan.member("arguments").elements(limits::k_plan_parts);
  std::vector<plan_argument> arguments;
  for (auto const& place : places) {
    auto argument = read_argument(place, types);
    if (std::ranges::find(arguments, argument.name, &plan_argument::name) != arguments.end())
      place.member("name").fail(
          detail::format("\"{}\" is the name of an earlier argument", argument.name),
          "rename one of them");
    arguments.push_back(std::move(argument));
  }
  for (std::size_t i = 0; i < places.size(); ++i) read_overlaps(places[i], arguments[i], arguments);
  return arguments;
}

std::vector<plan_let> read_lets(json_place const& plan, std::vector<plan_argument> const& arguments)
{
  std::vector<plan_let> lets;
  auto const place = plan.find("let");
  if (!place) return lets;
  for (auto const& [name, member] : place->members(limits::k_plan_parts)) {
    check_free_name(member, name);
    if (std::ranges::find(arguments, name, &plan_argument::name) != arguments.end())
      member.fail(detail::format("\"{}\" is also the name of an argument", name),
                  "rename one of them");
    lets.push_back({.name = name, .formula = member.formula()});
  }
  return lets;
}

}  // namespace fatlink::detail
