// SPDX-License-Identifier: Apache-2.0
// Whether all inputs were built against one contract, by their idents.
#include <algorithm>

#include "detail/format.hpp"
#include "detail/preflight_rules.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_runtime_package = "fatlink-runtime";

/// What is checked of the types of inputs that state no contract.
char const* remaining_check(preflight_inputs const& inputs)
{
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  return std::any_of(inputs.begin(), inputs.end(), is_opaque)
             ? "its types are not compared before the link"
             : "only widths and arity could be checked, and int and float of one width look alike "
               "where its code does not tell them apart";
}

finding uncontracted(fatbin const& input, preflight_inputs const& inputs)
{
  return {
      .id = "uncontracted",
      .severity = severity::warning,
      .files = {input.name()},
      .symbol = {},
      .message = detail::format("{} states no contract; {}", input.name(), remaining_check(inputs)),
      .hint = "build it with fatlink_add_fatbin(… CONTRACT …)"};
}

finding too_old(fatbin const& input, int format)
{
  return {.id = "fatlink-too-old",
          .severity = severity::error,
          .files = {input.name()},
          .symbol = {},
          .message = detail::format("{} describes itself in format {}, and this fatlink reads {}",
                                    input.name(), format, k_ident_format),
          .hint = detail::format("install a newer package {}", k_runtime_package)};
}

std::string contract_of(ident const& stated)
{
  return detail::format("{}/{}", stated.contract, stated.version);
}

std::string describe(preflight_input const& input)
{
  auto const& stated = *input.ident;
  return detail::format(
      "{}{} is built against contract {} (header {:.12})", input.file->name(),
      stated.package.empty() ? "" : detail::format(" (package {})", stated.package),
      contract_of(stated), stated.header_sha256);
}

bool is_library(preflight_input const& input)
{
  return !input.interface.hooks.empty();
}

/// "package fatlink-transforms" of "fatlink-transforms 0.1.0"; the file where it states none.
std::string package_of(preflight_input const& input)
{
  auto const& stated = input.ident->package;
  if (stated.empty()) return input.file->name();
  return "package " + stated.substr(0, stated.find(' '));
}

/// What to install, so that both have the newer contract; or so that both have the older.
std::string remedy(preflight_input const& older, preflight_input const& newer)
{
  auto const wanted = contract_of(*newer.ident);
  if (!is_library(older))
    return detail::format("install a version of {} that is built against {}", package_of(older),
                          wanted);
  auto const& by = newer.ident->contract_package;
  return detail::format("install {}, whose library has {}; or a version of {} built against {}",
                        by.empty() ? "a newer version of " + package_of(older)
                                   : detail::format("package {} or newer", by),
                        wanted, package_of(newer), contract_of(*older.ident));
}

finding mismatch(preflight_input const& first, preflight_input const& other)
{
  auto const same_name = first.ident->contract == other.ident->contract;
  auto const ordered = first.ident->version < other.ident->version;
  auto hint =
      detail::format("install versions of {} and {} that are built against the same contract",
                     package_of(first), package_of(other));
  if (!same_name)
    hint = detail::format("{} is for libraries with {}: pass one that is for {}",
                          other.file->name(), contract_of(*other.ident), contract_of(*first.ident));
  if (same_name && first.ident->version != other.ident->version)
    hint = ordered ? remedy(first, other) : remedy(other, first);
  return {.id = "contract-mismatch",
          .severity = severity::error,
          .files = {first.file->name(), other.file->name()},
          .symbol = {},
          .message = detail::format("{} and {}", describe(first), describe(other)),
          .hint = std::move(hint)};
}

bool same_contract(ident const& a, ident const& b)
{
  return a.contract == b.contract && a.version == b.version && a.header_sha256 == b.header_sha256;
}

}  // namespace

void check_contracts(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  preflight_input const* first = nullptr;
  for (auto const& input : inputs) {
    if (input.ident && input.ident->format > k_ident_format)
      findings.push_back(too_old(*input.file, input.ident->format));
    else if (!input.ident || input.ident->contract.empty())
      findings.push_back(uncontracted(*input.file, inputs));
    else if (first == nullptr)
      first = &input;
    else if (!same_contract(*first->ident, *input.ident))
      findings.push_back(mismatch(*first, input));
  }
}

}  // namespace fatlink::detail
