// SPDX-License-Identifier: Apache-2.0
// Whether all inputs were built against one contract, by their idents.
#include <fmt/format.h>

#include "detail/preflight_rules.hpp"

namespace fatlink::detail {
namespace {

finding uncontracted(fatbin const& input)
{
  return {.id = "uncontracted",
          .severity = severity::warning,
          .files = {input.name()},
          .symbol = {},
          .message = fmt::format("{} states no contract; only widths and arity could be checked",
                                 input.name()),
          .hint = "build it with fatlink_add_fatbin(… CONTRACT …)"};
}

std::string describe(ident const& contract)
{
  return fmt::format("{}/{} (header {:.12})", contract.contract, contract.version,
                     contract.header_sha256);
}

finding mismatch(preflight_input const& first, preflight_input const& other)
{
  return {.id = "contract-mismatch",
          .severity = severity::error,
          .files = {first.file->name(), other.file->name()},
          .symbol = {},
          .message =
              fmt::format("{} is built against contract {} and {} against {}", first.file->name(),
                          describe(*first.ident), other.file->name(), describe(*other.ident)),
          .hint = "build both against the same version of the contract's header"};
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
    if (!input.ident || input.ident->contract.empty())
      findings.push_back(uncontracted(*input.file));
    else if (first == nullptr)
      first = &input;
    else if (!same_contract(*first->ident, *input.ident))
      findings.push_back(mismatch(*first, input));
  }
}

}  // namespace fatlink::detail
