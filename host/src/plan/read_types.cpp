// SPDX-License-Identifier: Apache-2.0
// "types" of a plan: structs of numbers.
#include <algorithm>
#include <array>

#include "fatlink/error.hpp"
#include "plan/read_parts.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_fields = 4096;  // of one byte each, as large as a struct may be
constexpr std::array k_taken_names{"min",           "max",       "ceil",
                                   "sizeof",        "occupancy", "multiprocessors",
                                   "shared_memory", "element",   "index"};

std::vector<std::string> number_names()
{
  std::vector<std::string> names;
  for (auto kind = scalar_kind::float16; kind != scalar_kind::bytes;
       kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
    names.emplace_back(to_string(kind));
  return names;
}

element_type read_number(json_place const& place)
{
  auto const text = place.text();
  auto const type = parse_element_type(text);
  if (!type || type->kind == scalar_kind::bytes)
    place.fail_unknown("type of a number", text, number_names());
  return *type;
}

element_type read_record(std::string const& name, json_place const& place)
{
  std::vector<std::string> names;
  std::vector<element_type> types;
  for (auto const& field : place.elements(k_most_fields)) {
    field.check_keys({"name", "type"});
    names.push_back(field.member("name").identifier());
    types.push_back(read_number(field.member("type")));
  }
  try {
    return record_type(name, names, types);
  } catch (usage_error const& error) {
    place.fail(error.what(), error.details().hint);
  }
}

}  // namespace

void check_free_name(json_place const& place, std::string const& name)
{
  place.check_identifier(name);
  if (std::ranges::find(k_taken_names, name) != k_taken_names.end() || parse_element_type(name))
    place.fail(detail::format("\"{}\" has a meaning of its own in formulas", name),
               "choose another name");
}

plan_types read_types(json_place const& plan)
{
  plan_types types;
  auto const place = plan.find("types");
  if (!place) return types;
  for (auto const& [name, fields] : place->members(limits::k_plan_parts)) {
    check_free_name(fields, name);
    types.emplace(name, read_record(name, fields));
  }
  return types;
}

}  // namespace fatlink::detail
