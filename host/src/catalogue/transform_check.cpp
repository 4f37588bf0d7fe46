// SPDX-License-Identifier: Apache-2.0
#include "catalogue/transform_check.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "catalogue/call_index.hpp"
#include "catalogue/open_hooks.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink {
namespace {

using detail::interface_of_any;
using fatbins = std::span<fatbin const>;

bool has_ptx(fatbin const& input)
{
  return detail::has_entry(input, entry_kind::ptx);
}

void sort_by_severity(std::vector<finding>& findings)
{
  std::stable_sort(findings.begin(), findings.end(),
                   [](finding const& a, finding const& b) { return a.severity > b.severity; });
}

// Findings for transforms without a library.

finding not_judged(fatbin const& transform, std::string const& cause, std::string const& remedy)
{
  return {.id = finding_id::not_judged,
          .severity = severity::error,
          .files = {transform.name()},
          .message = detail::format("{} {}: it cannot be checked", transform.name(), cause),
          .hint = detail::format("{}pass the library with it", remedy)};
}

finding lacks_ptx(fatbin const& transform)
{
  return not_judged(transform, "holds no PTX, so the functions that it defines are not known",
                    "compile it with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile, or ");
}

finding lacks_contract_library(fatbin const& transform)
{
  auto const& stated = *transform.ident();
  auto const& package = stated.contract_package;
  return not_judged(
      transform,
      detail::format("is built against contract {}/{}, and no installed library has it",
                     stated.contract, stated.version),
      package.empty()
          ? std::string{}
          : detail::format("install package {}, or ", package.substr(0, package.find(' '))));
}

/// The hooks of an installed library, to search.
struct library_hooks {
  installed_library const* library;
  std::vector<ptx_function> hooks;
  detail::name_search search;
};

std::vector<library_hooks> hooks_of(std::span<installed_library const> libraries)
{
  std::vector<library_hooks> libraries_hooks;
  for (auto const& library : libraries) {
    auto hooks = detail::hooks_of(interface_of_any(library.contents));
    detail::name_search search(
        detail::names_of(hooks));  // moving `hooks` leaves the names in place
    libraries_hooks.push_back({&library, std::move(hooks), std::move(search)});
  }
  return libraries_hooks;
}

/// "did you mean user_transform, which apply_transform calls? "; empty: no name is similar.
std::string suggestion(std::vector<library_hooks>& libraries, ptx_function const& function)
{
  for (auto& [library, hooks, search] : libraries)
    for (auto const& hook : hooks)
      if (search.spend(function.name.size()) && detail::is_mangled(function.name, hook.name))
        return detail::format(
            "{} is the C++ name of {}, which {} calls: declare the definition "
            "extern \"C\". ",
            function.name, hook.name, library->name);
  for (auto& [library, hooks, search] : libraries) {
    auto const name = search.nearest(function.name);
    if (!name.empty())
      return detail::format("did you mean {}, which {} calls? ", name, library->name);
  }
  return {};
}

/// `hooks`: of the installed libraries.
finding unused_definition(std::vector<library_hooks>& hooks, fatbin const& transform,
                          std::vector<ptx_function> const& functions, severity level)
{
  std::string similar;
  auto const has_work = [](library_hooks const& library) { return library.search.work_left() > 0; };
  for (auto const& function : functions) {
    if (!similar.empty() || std::none_of(hooks.begin(), hooks.end(), has_work)) break;
    similar = suggestion(hooks, function);
  }
  return {.id = finding_id::unused_definition,
          .severity = level,
          .files = {transform.name()},
          .symbol = functions.front().name,
          .message = detail::format("{} defines {}, which no installed library calls",
                                    transform.name(), detail::list_functions(functions)),
          .hint = similar.empty() ? "pass the library whose kernel calls it"
                                  : similar + "Otherwise pass the library whose kernel calls it"};
}

finding only_variables(fatbin const& transform)
{
  auto const& name = interface_of_any(transform).variables.front().name;
  return {.id = finding_id::unused_definition,
          .severity = severity::error,
          .files = {transform.name()},
          .symbol = name,
          .message =
              detail::format("{} defines variables ({}) and no function", transform.name(), name),
          .hint = "define the hook as an extern \"C\" __device__ function"};
}

bool declares_hooks(fatbins inputs)
{
  return std::any_of(inputs.begin(), inputs.end(), [](fatbin const& input) {
    return !detail::hooks_of(interface_of_any(input)).empty();
  });
}

class check_without_library {
 public:
  check_without_library(std::span<installed_library const> libraries, fatbins transforms)
      : hooks_(hooks_of(libraries)),
        calls_(transforms),
        level_(declares_hooks(transforms) ? severity::warning : severity::error)
  {
  }

  std::optional<finding> check(fatbin const& transform)
  {
    if (!has_ptx(transform)) return lacks_ptx(transform);
    auto const& stated = transform.ident();
    if (stated && !stated->contract.empty()) return lacks_contract_library(transform);
    auto const& interface = interface_of_any(transform);
    if (detail::defined_functions(interface).empty() && !interface.variables.empty())
      return only_variables(transform);
    auto const functions = calls_.unused_functions(transform);
    if (functions.empty()) return {};  // preflight says that it defines nothing, or it is called
    return unused_definition(hooks_, transform, functions, level_);
  }

 private:
  std::vector<library_hooks> hooks_;
  detail::call_index calls_;
  severity level_;
};

}  // namespace

bool lacks_library(std::span<fatbin const> inputs)
{
  auto const has_kernel = [](fatbin const& input) {
    return !interface_of_any(input).kernels.empty();
  };
  if (std::any_of(inputs.begin(), inputs.end(), has_kernel)) return false;
  return std::all_of(inputs.begin(), inputs.end(), has_ptx) ||
         std::none_of(inputs.begin(), inputs.end(), has_ptx);
}

std::vector<finding> preflight_with(installed_library const& library,
                                    std::span<input const> transforms,
                                    preflight_request const& request)
{
  std::vector<input> inputs{library.contents};
  inputs.insert(inputs.end(), transforms.begin(), transforms.end());
  auto findings = preflight(inputs, request);
  detail::allow_open_hooks(findings, select_modules(inputs, request));
  sort_by_severity(findings);
  return findings;
}

std::vector<finding> preflight_without(std::span<installed_library const> libraries,
                                       std::span<input const> transforms,
                                       preflight_request const& request)
{
  auto findings = preflight(transforms, request);
  auto const modules = select_modules(transforms, request);
  check_without_library judge(libraries, modules);
  std::vector<finding> causes;
  for (auto const& transform : modules)
    if (auto cause = judge.check(transform)) causes.push_back(*std::move(cause));
  findings.insert(findings.begin(), std::make_move_iterator(causes.rbegin()),
                  std::make_move_iterator(causes.rend()));
  sort_by_severity(findings);
  return findings;
}

}  // namespace fatlink
