// SPDX-License-Identifier: Apache-2.0
// "launches" of a plan.
#include <algorithm>

#include "plan/launch_limits.hpp"
#include "plan/read_parts.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The name of a kernel, as in the PTX.
std::string read_kernel(json_place const& place)
{
  auto name = place.text();
  auto const is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
  };
  if (!std::ranges::all_of(name, is_part) || (name.front() >= '0' && name.front() <= '9') ||
      name.size() > limits::k_name_bytes)
    place.fail(detail::format("is not the name of a kernel"),
               "write the kernel's name as in the PTX: of extern \"C\", or mangled");
  return name;
}

std::array<formula_text, 3> read_extent(json_place const& launch, char const* key)
{
  std::array<formula_text, 3> extent{"1", "1", "1"};
  auto const place = launch.member(key);
  if (!place.value().is_array()) {
    extent[0] = place.formula();
    return extent;
  }
  auto const formulas = place.elements(extent.size());
  if (formulas.empty()) place.fail("is empty", "write one to three formulas: x, y, z");
  for (std::size_t i = 0; i < formulas.size(); ++i) extent.at(i) = formulas[i].formula();
  return extent;
}

launch_argument read_formula(json_place const& place)
{
  place.check_keys({"value", "type"});
  auto const stated = place.member("type");
  auto const type = parse_element_type(stated.text());
  if (!type || !is_integer(*type))
    stated.fail_unknown("integer type", stated.text(),
                        {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"});
  return {.formula = place.member("value").formula(), .type = *type};
}

launch_argument read_launch_argument(json_place const& place, launch_plan const& stated)
{
  if (place.value().is_object()) return read_formula(place);
  auto const name = place.text();
  if (stated.find(name) != nullptr) return {.argument = name};
  if (std::ranges::find(stated.lets, name, &plan_let::name) != stated.lets.end())
    return {.formula = name, .type = scalar_type(scalar_kind::uint64)};
  std::vector<std::string> names;
  for (auto const& argument : stated.arguments) names.push_back(argument.name);
  for (auto const& let : stated.lets) names.push_back(let.name);
  place.fail_unknown("argument", name, names);
}

bool read_overlap(json_place const& place)
{
  if (!place.value().is_boolean())
    place.fail("is not true or false", "write true, or leave it out");
  return place.value().get<bool>();
}

plan_launch read_launch(json_place const& place, launch_plan const& stated)
{
  place.check_keys({"kernel", "grid", "block", "shared", "overlap", "arguments"});
  plan_launch launch{.kernel = read_kernel(place.member("kernel")),
                     .grid = read_extent(place, "grid"),
                     .block = read_extent(place, "block")};
  if (auto const shared = place.find("shared")) launch.shared_bytes = shared->formula();
  if (auto const overlap = place.find("overlap")) launch.overlap = read_overlap(*overlap);
  for (auto const& argument : place.member("arguments").elements(limits::k_parameters))
    launch.arguments.push_back(read_launch_argument(argument, stated));
  return launch;
}

}  // namespace

std::vector<plan_launch> read_launches(json_place const& plan, launch_plan const& stated)
{
  std::vector<plan_launch> launches;
  auto const list = plan.member("launches");
  for (auto const& place : list.elements(limits::k_plan_parts))
    launches.push_back(read_launch(place, stated));
  if (launches.empty()) list.fail("is empty", "state at least one launch");
  return launches;
}

}  // namespace fatlink::detail
