// SPDX-License-Identifier: Apache-2.0
#include "verification/build_check.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "fatbin/ident.hpp"
#include "fatbin/json_file.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/ptx_interface.hpp"
#include "plan/check_plan.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "verification/check_references.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink {
namespace {

[[noreturn]] void fail_check(std::string const& file, std::string const& cause, std::string hint)
{
  throw file_error(stage::fatbin, {.message = detail::format("{}: {}", file, cause),
                                   .input = file,
                                   .code = error_code::unexpected_build,
                                   .hint = std::move(hint)});
}

std::string name_of(fatbin_entry const& entry)
{
  return detail::format("{}:{}", name_of(entry.kind), entry.target.name());
}

void check_entries(fatbin const& input, std::vector<std::string> const& expected)
{
  std::vector<std::string> names;
  for (auto const& entry : input.entries()) names.push_back(name_of(entry));
  for (auto const& name : expected)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail_check(input.name(),
                 detail::format("holds no {} entry; it holds {}", name, fmt::join(names, ", ")),
                 "compile it with nvcc -dlto -fatbin for the expected architectures");
}

void check_ident(fatbin const& input, std::string const& expected)
{
  for (auto const& entry : input.entries())
    if (!expected.empty() && entry.ident_text != expected)
      fail_check(
          input.name(),
          detail::format("the ident of its {} entry is not the expected one: {}", name_of(entry),
                         entry.ident_text.empty() ? "none" : entry.ident_text),
          "an option for nvcc replaced it: state -lineinfo in OPTIONS of fatlink_add_fatbin, not "
          "in "
          "a file of options or $NVCC_APPEND_FLAGS");
}

/// The remedy where none of `definitions` is a hook of the contract.
std::string hint_for(ident const& stated, std::vector<std::string> const& definitions)
{
  detail::name_search search({definitions.begin(), definitions.end()});
  for (auto const& [hook, type] : stated.hooks)
    if (auto const name = search.find_prefix(detail::format("_Z{}{}", hook.size(), hook));
        !name.empty())
      return detail::format("{} is an overload of {} with another type: define it as {}", name,
                            hook, hook_declaration(hook, type));
  std::string hint;
  auto distance = std::numeric_limits<std::size_t>::max();
  for (auto const& [hook, type] : stated.hooks) {
    auto const nearest = search.nearest(hook);
    if (nearest.empty() || detail::edit_distance(nearest, hook) >= distance) continue;
    distance = detail::edit_distance(nearest, hook);
    hint = detail::format("did you mean {}? Rename the definition to {}", nearest, hook);
  }
  if (!hint.empty()) return hint;
  return "define a hook outside namespaces and without static, or build it without CONTRACT";
}

void check_hook(fatbin const& input)
{
  if (!input.ident() || input.ident()->contract.empty())
    fail_check(input.name(), "states no contract",
               "build it with fatlink_add_fatbin(… CONTRACT …) or with "
               "<fatlink::compiler and compile_options::contract>");
  auto const& stated = *input.ident();
  std::span const modules(&input, 1);
  auto const names = detail::names_in(
      modules, {&ptx_interface::definitions, &ptx_interface::weak, &ptx_interface::hooks});
  std::vector<std::string> declarations;
  detail::name_set const defined_names(std::vector<std::string_view>(names.begin(), names.end()));
  for (auto const& [hook, type] : stated.hooks) {
    if (defined_names.contains(hook)) return;
    declarations.push_back(hook_declaration(hook, type));
  }
  fail_check(input.name(),
             detail::format("defines no hook of contract {} ({}) and calls none",
                            detail::contract_of(stated), detail::list_names(declarations)),
             hint_for(stated, detail::names_in(
                                  modules, {&ptx_interface::definitions, &ptx_interface::weak})));
}

void check_plan_contract(fatbin const& input, launch_plan const& plan)
{
  if (plan.contract.empty()) return;
  auto const is_stated = input.ident() && !input.ident()->contract.empty();
  auto const stated = is_stated ? detail::contract_of(*input.ident()) : std::string("no contract");
  if (stated != plan.contract)
    fail_check(
        plan.file,
        detail::format(R"("contract" is "{}"; {} states {})", plan.contract, input.name(), stated),
        "state the CONTRACT of fatlink_add_fatbin, or none");
}

/// PLAN and REFERENCE become one file.
void check_common_keys(std::filesystem::path const& plan, std::filesystem::path const& reference)
{
  auto const own = detail::json_file::read(plan);
  auto const other = detail::json_file::read(reference);
  for (auto const& [key, value] : own->json().items()) {
    if (!other->json().contains(key)) continue;
    if (key != "name" && key != "summary")
      fail_check(reference.string(),
                 detail::format("\"{}\" is also stated by {}", key, plan.string()),
                 "state it in one of the two");
    if (other->json()[key] != value)
      fail_check(reference.string(),
                 detail::format("\"{}\" is {}; {} has {}", key, other->json()[key].dump(),
                                plan.string(), value.dump()),
                 "state the same in both");
  }
}

void check_plan(fatbin const& input, build_expectations const& expected)
{
  auto const plan = launch_plan::read_source(expected.plan);
  check_plan_contract(input, plan);
  if (!expected.reference.empty()) check_common_keys(expected.plan, expected.reference);
  auto findings = detail::check_plan(plan, std::span(&input, 1));
  if (findings.empty()) findings = detail::check_array_types(plan, std::span(&input, 1));
  if (!findings.empty())
    throw refused_error(std::move(findings), detail::format("use {} as the launch plan of {}",
                                                            expected.plan.string(), input.name()));
}

void check_reference(fatbin const& input, std::filesystem::path const& path, bool allows_digest)
{
  auto const source = transform_reference::read_source(path, allows_digest);
  if (!source) return;
  if (auto wrong = detail::find_wrong_hook(std::span(&input, 1), input.name(), *source))
    fail_check(path.string(), wrong->cause, std::move(wrong->hint));
}

}  // namespace

void check_build(fatbin const& input, build_expectations const& expected)
{
  check_entries(input, expected.entries);
  check_ident(input, expected.ident);
  if (expected.hook) check_hook(input);
  if (!expected.reference.empty())
    check_reference(input, expected.reference, expected.allows_digest);
  if (!expected.plan.empty()) check_plan(input, expected);
}

}  // namespace fatlink
