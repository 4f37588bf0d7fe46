// SPDX-License-Identifier: Apache-2.0
#include "fatlink/preflight.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/wording.hpp"
#include "preflight/entries.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

detail::preflight_input describe_input(fatbin const& input, preflight_request const& request)
{
  return {.file = &input,
          .interface = interface_of(input, detail::choice_of(request)),
          .ident = input.ident(),
          .is_opaque = is_opaque(input, detail::choice_of(request))};
}

/// `task` is "link for sm_90".
error_details refusal(std::string_view task, std::vector<finding> const& findings)
{
  auto const error_finding =
      std::find_if(findings.begin(), findings.end(),
                   [](finding const& entry) { return entry.severity == severity::error; });
  if (error_finding == findings.end())
    return {.message = "the link was refused without a finding that is an error",
            .code = error_code::link_refused,
            .hint = "pass refused_error at least one finding of severity::error"};
  return {.message = detail::format("cannot {}: {} [{}]", task, error_finding->message,
                                    to_string(error_finding->id)),
          .input = detail::format("{}", fmt::join(error_finding->files, ", ")),
          .code = vendor_code(to_string(error_finding->id)),
          .hint = error_finding->hint};
}

bool depends_on_target(finding_id id)
{
  return id == finding_id::arch_too_new || id == finding_id::arch_specific ||
         id == finding_id::arch_unknown;
}

/// The files of a finding, in alphabetical order.
std::vector<std::string> sorted_files(finding const& subject)
{
  auto files = subject.files;
  std::sort(files.begin(), files.end());
  return files;
}

/// Drops each finding `consequence` whose files are those of a finding `cause`.
void drop_consequences(std::vector<finding>& findings, finding_id cause, finding_id consequence)
{
  std::vector<std::vector<std::string>> explained;
  for (auto const& entry : findings)
    if (entry.id == cause) explained.push_back(sorted_files(entry));
  std::erase_if(findings, [&](finding const& entry) {
    return entry.id == consequence &&
           std::find(explained.begin(), explained.end(), sorted_files(entry)) != explained.end();
  });
}

}  // namespace

char const* to_string(severity level) noexcept
{
  switch (level) {
    case severity::warning:
      return "warning";
    case severity::error:
      return "error";
  }
  return "unknown";
}

std::vector<finding> preflight(std::span<fatbin const> inputs, preflight_request const& request)
{
  check_target(request.target);
  check_link_mode(request.mode);
  detail::preflight_inputs described;
  for (auto const& input : inputs) described.push_back(describe_input(input, request));

  std::vector<finding> findings;
  detail::check_entries(described, request, findings);
  detail::check_ltoir_parts(described, request, findings);
  detail::symbol_index const symbols(described);
  detail::check_contracts(described, symbols, findings);
  detail::check_digests(described, findings);
  detail::check_kept(described, request, findings);
  detail::check_types(described, request, findings);
  auto const is_whole = !request.is_partial;  // else another link defines and calls the rest
  if (is_whole) detail::check_hooks(described, symbols, findings);
  detail::check_function_types(symbols, findings);
  detail::check_unpassed_arguments(described, symbols, request, findings);
  if (is_whole) detail::check_variables(described, symbols, findings);
  detail::check_variable_types(symbols, findings);
  detail::check_constant_memory(described, request, findings);
  detail::check_kernel_resources(described, request, findings);
  detail::check_definitions(described, findings);
  if (is_whole) detail::check_unused(described, symbols, findings);
  detail::check_replacements(described, symbols, request, findings);
  detail::check_duplicates(described, symbols, findings);
  detail::check_weak_code(described, symbols, request, findings);
  detail::check_float_flags(described, request, findings);
  detail::check_toolkits(inputs, request, findings);
  drop_consequences(findings, finding_id::contract_mismatch, finding_id::signature_mismatch);
  drop_consequences(findings, finding_id::signature_mismatch, finding_id::weak_mismatch);
  drop_consequences(findings, finding_id::removed_functions, finding_id::no_ltoir);
  drop_consequences(findings, finding_id::unused_input, finding_id::compared_by_link);
  std::stable_sort(findings.begin(), findings.end(),
                   [](finding const& a, finding const& b) { return a.severity > b.severity; });
  for (auto& entry : findings) entry.hint = detail::in_words(std::move(entry.hint));
  return findings;
}

std::vector<finding> preflight_any_target(std::span<fatbin const> inputs, preflight_request request)
{
  request.target = detail::newest_target();
  auto findings = preflight(inputs, request);
  std::erase_if(findings, [](finding const& entry) {
    return entry.severity != severity::error || depends_on_target(entry.id);
  });
  return findings;
}

refused_error::refused_error(target link_target, std::vector<finding> findings)
    : error(stage::preflight, refusal("link for " + link_target.name(), findings)),
      findings_(std::move(findings))
{
}

refused_error::refused_error(std::vector<finding> findings)
    : refused_error(std::move(findings), "link")
{
}

refused_error::refused_error(std::vector<finding> findings, std::string_view task)
    : error(stage::preflight, refusal(task, findings)), findings_(std::move(findings))
{
}

refused_error::refused_error(error_details details, std::vector<finding> findings)
    : error(stage::preflight, std::move(details)), findings_(std::move(findings))
{
}

}  // namespace fatlink
