// SPDX-License-Identifier: Apache-2.0
#include "plan/read_plan.hpp"

#include <algorithm>
#include <array>

#include "fatbin/json_file.hpp"
#include "input/find_sidecar.hpp"
#include "plan/output_lengths.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/read_parts.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

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

/// The plan in a sidecar, which may also state a digest and a reference.
launch_plan read_sidecar_plan(json_file const& sidecar)
{
  sidecar.check_unique_keys(error_code::invalid_plan);
  auto other_keys = reference_keys();
  other_keys.emplace_back("sha256");
  return read_plan(sidecar.json(), sidecar.name(), other_keys);
}

std::optional<launch_plan> find_plan(sidecar_ptr const& sidecar)
{
  if (!sidecar || !states_plan(sidecar->json())) return std::nullopt;
  return read_sidecar_plan(*sidecar);
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
  json_place const whole(json, file, error_code::invalid_plan);
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
  return detail::read_sidecar_plan(*detail::json_file::read(sidecar));
}

launch_plan launch_plan::read_source(std::filesystem::path const& path)
{
  auto const file = detail::json_file::read(path);
  file->check_unique_keys(error_code::invalid_plan);
  detail::check_source_keys({file->json(), file->name(), error_code::invalid_plan});
  return detail::read_plan(file->json(), file->name(), {});
}

std::optional<launch_plan> launch_plan::beside(std::filesystem::path const& file)
{
  return detail::find_plan(detail::find_sidecar(file));
}

std::optional<launch_plan> launch_plan::beside(input const& file)
{
  return detail::find_plan(detail::sidecar_of(file));
}

}  // namespace fatlink
