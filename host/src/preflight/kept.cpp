// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "preflight/finding_limit.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

defined_names names_of(preflight_inputs const& inputs)
{
  defined_names names;
  for (auto const& input : inputs) {
    names.files.push_back(input.file->name());
    for (auto const& kernel : input.interface.kernels) names.kernels.push_back(kernel.name);
    for (auto const& variable : input.interface.variables) names.variables.push_back(variable.name);
  }
  return names;
}

/// "did you mean k7? kernels there are: k7, k8"
std::string suggest(std::string_view subject, std::string const& name,
                    std::vector<std::string> const& names, name_search& search)
{
  auto const prefix = detail::format("_Z{}{}", name.size(), name);
  auto const mangled = std::ranges::find_if(
      names, [&](std::string const& known) { return known.starts_with(prefix); });
  if (mangled != names.end())
    return detail::format("{0} is its C++ name: pass {0}, or declare it extern \"C\"", *mangled);
  auto const nearest = search.nearest(name);
  return detail::format("{}{} there are: {}",
                        nearest.empty() ? "" : detail::format("did you mean {}? ", nearest),
                        subject, list_names(names));
}

finding unknown_kernel(std::string const& kernel, defined_names const& defined, name_search& search)
{
  return {.id = finding_id::unknown_kernel,
          .severity = severity::error,
          .files = defined.files,
          .symbol = kernel,
          .message = detail::format("kernel {} is in no input ({})", kernel,
                                    fmt::join(defined.files, ", ")),
          .hint = defined.kernels.empty() ? "pass the library, which holds the kernels"
                                          : suggest("kernels", kernel, defined.kernels, search)};
}

finding unknown_variable(std::string const& variable, defined_names const& defined,
                         name_search& search)
{
  return {.id = finding_id::unknown_variable,
          .severity = severity::error,
          .files = defined.files,
          .symbol = variable,
          .message = detail::format("variable {} is defined by no input ({})", variable,
                                    fmt::join(defined.files, ", ")),
          .hint = defined.variables.empty()
                      ? "only variables that are neither static nor extern can be kept by name"
                      : suggest("variables", variable, defined.variables, search)};
}

/// Adds what `make` returns for each of `wanted` that `defined` lacks.
template <typename Make>
void add_unknown(std::vector<std::string> const& wanted, std::vector<std::string> const& defined,
                 Make const& make, std::vector<finding>& findings)
{
  if (wanted.empty()) return;
  std::vector<std::string_view> const views(defined.begin(), defined.end());
  std::set<std::string_view> const names(views.begin(), views.end());
  name_search search(views);
  finding_limit unknown(findings);
  for (auto const& name : wanted)
    if (!names.contains(name)) unknown.add([&] { return make(name, search); });
  unknown.finish();
}

}  // namespace

std::vector<finding> find_unknown(std::vector<std::string> const& kernels,
                                  std::vector<std::string> const& variables,
                                  defined_names const& defined)
{
  std::vector<finding> findings;
  add_unknown(
      kernels, defined.kernels,
      [&](auto const& name, auto& search) { return unknown_kernel(name, defined, search); },
      findings);
  add_unknown(
      variables, defined.variables,
      [&](auto const& name, auto& search) { return unknown_variable(name, defined, search); },
      findings);
  return findings;
}

void check_kept(preflight_inputs const& inputs, preflight_request const& request,
                std::vector<finding>& findings)
{
  if (request.kernels.empty() && request.variables.empty()) return;
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (std::any_of(inputs.begin(), inputs.end(), is_opaque)) return;  // the link shows them
  auto unknown = find_unknown(request.kernels, request.variables, names_of(inputs));
  std::move(unknown.begin(), unknown.end(), std::back_inserter(findings));
}

}  // namespace fatlink::detail
