// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "preflight/finding_limit.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// What the inputs define.
struct defined_names {
  std::vector<std::string> files;
  std::vector<std::string> kernels;
  std::vector<std::string> variables;
};

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

bool contains(std::vector<std::string> const& names, std::string const& name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "did you mean k7? kernels there are: k7, k8"
std::string suggest(std::string_view subject, std::string const& name,
                    std::vector<std::string> const& names)
{
  auto const prefix = detail::format("_Z{}{}", name.size(), name);
  auto const mangled = std::ranges::find_if(
      names, [&](std::string const& known) { return known.starts_with(prefix); });
  if (mangled != names.end())
    return detail::format("{0} is its C++ name: pass {0}, or declare it extern \"C\"", *mangled);
  auto const nearest = detail::nearest(names, name);
  return detail::format("{}{} there are: {}",
                        nearest.empty() ? "" : detail::format("did you mean {}? ", nearest),
                        subject, list_names(names));
}

}  // namespace

finding unknown_kernel(std::string const& kernel, std::vector<std::string> const& files,
                       std::vector<std::string> const& kernels)
{
  return {
      .id = finding_id::unknown_kernel,
      .severity = severity::error,
      .files = files,
      .symbol = kernel,
      .message = detail::format("kernel {} is in no input ({})", kernel, fmt::join(files, ", ")),
      .hint = kernels.empty() ? "pass the library, which holds the kernels"
                              : suggest("kernels", kernel, kernels)};
}

finding unknown_variable(std::string const& variable, std::vector<std::string> const& files,
                         std::vector<std::string> const& variables)
{
  return {.id = finding_id::unknown_variable,
          .severity = severity::error,
          .files = files,
          .symbol = variable,
          .message = detail::format("variable {} is defined by no input ({})", variable,
                                    fmt::join(files, ", ")),
          .hint = variables.empty()
                      ? "only variables that are neither static nor extern can be kept by name"
                      : suggest("variables", variable, variables)};
}

void check_kept(preflight_inputs const& inputs, preflight_request const& request,
                std::vector<finding>& findings)
{
  if (request.kernels.empty() && request.variables.empty()) return;
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  if (std::any_of(inputs.begin(), inputs.end(), is_opaque)) return;  // the link shows them
  auto const names = names_of(inputs);
  for (auto const& kernel : request.kernels)
    if (!contains(names.kernels, kernel))
      findings.push_back(unknown_kernel(kernel, names.files, names.kernels));
  for (auto const& variable : request.variables)
    if (!contains(names.variables, variable))
      findings.push_back(unknown_variable(variable, names.files, names.variables));
}

}  // namespace fatlink::detail
