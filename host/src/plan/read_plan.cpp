// SPDX-License-Identifier: Apache-2.0
#include "plan/read_plan.hpp"

#include <algorithm>
#include <array>

#include "fatbin/sidecar.hpp"
#include "input/stated_digest.hpp"
#include "plan/check_unique_keys.hpp"
#include "plan/json_place.hpp"
#include "plan/output_lengths.hpp"
#include "plan/plan_error.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/read_parts.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Keys that only a plan has.
constexpr std::array k_own_keys{"arguments", "let", "launches", "computes", "depth", "types"};
/// Keys of a transform's reference, which a sidecar may have beside a plan.
constexpr std::array k_reference_keys{"hook",  "hooks",   "reference",  "tolerance_ulp",
                                      "state", "element", "error_model"};

std::vector<std::string> const& reference_keys()
{
  static std::vector<std::string> const keys(k_reference_keys.begin(), k_reference_keys.end());
  return keys;
}

/// "reduce/1"
std::string read_contract(json_place const& plan)
{
  auto const place = plan.find("contract");
  if (!place) return {};
  auto text = place->text();
  auto const slash = text.find('/');
  auto const version = slash == text.npos ? std::string() : text.substr(slash + 1);
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (slash == text.npos || version.empty() || !std::ranges::all_of(version, is_digit))
    place->fail(detail::format("{} is not a contract", in_quotes(text)),
                R"(write its name and version: "reduce/1")");
  place->check_identifier(text.substr(0, slash));
  return text;
}

/// Sorts the lets in the order in which they are computed. Parses all formulas.
void sort_lets(launch_plan& plan)
{
  plan_formulas const formulas(plan);
  std::vector<plan_let> sorted;
  for (auto const value : formulas.order)
    if (value < formulas.first_occupancy())
      sorted.push_back(plan.lets[value - formulas.first_let()]);
  plan.lets = std::move(sorted);
}

/// @throws file_error an array that no launch takes.
void check_launched(json_place const& whole, launch_plan const& plan)
{
  auto const is_taken = [&](std::string const& name) {
    return std::ranges::any_of(plan.launches, [&](plan_launch const& launch) {
      return std::ranges::find(launch.arguments, name, &launch_argument::argument) !=
             launch.arguments.end();
    });
  };
  auto const places = whole.member("arguments").elements(limits::k_plan_parts);
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    auto const& argument = plan.arguments[i];
    if (!argument.shape.empty() && !is_taken(argument.name))
      places[i].fail(
          detail::format("no launch takes the {} {}", to_string(argument.role), argument.name),
          "pass it in \"arguments\" of a launch, or remove it");
  }
}

void check_source_keys(json_place const& plan)
{
  if (auto const digest = plan.find("sha256"))
    digest->fail("is stated in a PLAN", "remove it: the build adds it");
  for (auto const& key : reference_keys())
    if (auto const member = plan.find(key.c_str()))
      member->fail("describes a transform, not a plan", "state it in the REFERENCE, another file");
}

json_document read_plan_json(std::filesystem::path const& path)
{
  auto const bytes = read_file(path, limits::k_json_bytes, k_json_example);
  auto json = parse_json(bytes, path.string());
  check_unique_keys(bytes, path.string());
  return json;
}

}  // namespace

std::vector<std::string> const& plan_keys()
{
  static std::vector<std::string> const keys{"name", "summary",  "contract", "types", "arguments",
                                             "let",  "launches", "computes", "depth"};
  return keys;
}

bool states_plan(nlohmann::json const& sidecar)
{
  return std::ranges::any_of(k_own_keys, [&](char const* key) { return sidecar.contains(key); });
}

launch_plan read_plan(nlohmann::json const& json, std::string const& file,
                      std::vector<std::string> const& other_keys)
{
  json_place const whole(json, file);
  auto keys = plan_keys();
  keys.insert(keys.end(), other_keys.begin(), other_keys.end());
  whole.check_keys(keys);
  launch_plan plan{.name = whole.member("name").text(),
                   .summary = whole.member("summary").text(),
                   .contract = read_contract(whole),
                   .file = file};
  plan.arguments = read_arguments(whole, read_types(whole));
  plan.lets = read_lets(whole, plan.arguments);
  plan.launches = read_launches(whole, plan);
  plan.results = read_results(whole, plan);
  sort_lets(plan);
  check_lengths(plan);
  check_launched(whole, plan);
  return plan;
}

}  // namespace fatlink::detail

namespace fatlink {

launch_plan launch_plan::read(std::filesystem::path const& sidecar)
{
  auto other_keys = detail::reference_keys();
  other_keys.emplace_back("sha256");
  return detail::read_plan(*detail::read_plan_json(sidecar), sidecar.string(), other_keys);
}

launch_plan launch_plan::read_source(std::filesystem::path const& path)
{
  auto const json = detail::read_plan_json(path);
  auto const file = path.string();
  detail::check_source_keys({*json, file});
  return detail::read_plan(*json, file, {});
}

std::optional<launch_plan> launch_plan::beside(std::filesystem::path const& file)
{
  auto const sidecar = detail::find_sidecar(file);
  if (!sidecar || !detail::states_plan(*detail::read_json(*sidecar))) return std::nullopt;
  return read(*sidecar);
}

}  // namespace fatlink
