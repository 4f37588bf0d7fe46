// SPDX-License-Identifier: Apache-2.0
#include "pack/merge_idents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fatbin/contract_identity.hpp"
#include "util/bytes/encodings.hpp"

namespace fatlink::cli {
namespace {

/// The members in the order in which fatlink_add_fatbin writes them.
constexpr std::array k_order{"fatlink", "contract", "version", "header_sha256", "contract_package",
                             "hooks",   "toolkit",  "float",   "package"};
constexpr std::array k_contract{"contract", "version", "header_sha256", "contract_package",
                                "hooks"};
constexpr char const* k_opaque = "opaque";

/// An ident, and the module whose entries have it.
struct statement {
  fatbin const* module;
  fatlink::ident ident;
  nlohmann::json members;  ///< without those about the entries

  [[nodiscard]] bool has_contract() const { return !ident.contract.empty(); }
};

[[noreturn]] void refuse(fatbin const& module, char const* cause, char const* hint)
{
  throw file_error(stage::fatbin,
                   {.message = fmt::format("{}: {}: it cannot be packed", module.name(), cause),
                    .input = module.name(),
                    .code = error_code::foreign_ident,
                    .hint = hint});
}

statement read_ident(fatbin const& module, std::string const& text)
{
  if (text.empty()) return {&module, {}, {{"fatlink", k_ident_format}}};
  auto ident = parse_ident(text);
  if (!ident)
    refuse(module, "has an ident that is not of fatlink",
           "build it again without -ident, or with fatlink_add_fatbin");
  if (ident->format != k_ident_format)
    refuse(module, "has an ident of a newer fatlink", "install a newer package fatlink-runtime");
  auto members = nlohmann::json::parse(*detail::decode_base64(text));
  for (auto const* name : {"entries", "check", k_opaque}) members.erase(name);
  return {&module, std::move(*ident), std::move(members)};
}

/// Each ident of each module once.
std::vector<statement> read_idents(std::vector<fatbin> const& modules)
{
  std::vector<statement> statements;
  for (auto const& module : modules) {
    std::set<std::string> texts;
    for (auto const& entry : module.entries())
      if (texts.insert(entry.ident_text).second)
        statements.push_back(read_ident(module, entry.ident_text));
  }
  return statements;
}

std::string describe_contract(statement const& stated, std::string const& hook)
{
  auto const text =
      fmt::format("{} is built against contract {} (header {:.12})", stated.module->name(),
                  detail::contract_of(stated.ident), stated.ident.header_sha256);
  return hook.empty()
             ? text
             : fmt::format("{}, which {}", text, detail::describe_hook(stated.ident, hook));
}

finding make_contract_mismatch(statement const& a, statement const& b)
{
  auto const same_name = a.ident.contract == b.ident.contract && a.ident.version == b.ident.version;
  auto const hook = same_name ? detail::differing_hook(a.ident, b.ident) : std::string{};
  return {
      .id = finding_id::contract_mismatch,
      .severity = severity::error,
      .files = {a.module->name(), b.module->name()},
      .symbol = hook,
      .message = fmt::format("{}, and {}", describe_contract(a, hook), describe_contract(b, hook)),
      .hint = "build both against the same contract"};
}

void check_contracts(std::vector<statement> const& statements, std::vector<finding>& findings)
{
  auto const has_contract = [](statement const& stated) { return stated.has_contract(); };
  auto const first = std::find_if(statements.begin(), statements.end(), has_contract);
  for (auto const& stated : statements)
    if (has_contract(stated) && !detail::same_contract(first->ident, stated.ident))
      findings.push_back(make_contract_mismatch(*first, stated));
}

/// Removes the members of `merged` that `stated` does not have with the same value.
void keep_common(nlohmann::json& merged, nlohmann::json const& stated)
{
  for (auto member = merged.begin(); member != merged.end();) {
    auto const peer = stated.find(member.key());
    auto const is_common = peer != stated.end() && *peer == *member;
    member = is_common ? std::next(member) : merged.erase(member);
  }
}

/// Removes the contract if an ident states none; says so.
void remove_partial_contract(std::vector<statement> const& statements, std::string const& result,
                             merged_ident& merged)
{
  auto const lacks_contract = [](statement const& stated) { return !stated.has_contract(); };
  auto const without = std::find_if(statements.begin(), statements.end(), lacks_contract);
  if (without == statements.end()) return;
  for (auto const* name : k_contract) merged.members.erase(name);
  auto const with = std::find_if_not(statements.begin(), statements.end(), lacks_contract);
  if (with == statements.end()) return;
  merged.warnings.push_back(
      fmt::format("{} does not state contract {} of {}, because {} states no contract", result,
                  detail::contract_of(with->ident), with->module->name(), without->module->name()));
}

}  // namespace

std::string merged_ident::encode(std::string const& package,
                                 std::vector<std::string> const& opaque) const
{
  nlohmann::ordered_json ordered;
  for (auto const* name : k_order)
    if (members.contains(name)) ordered[name] = members[name];
  if (!package.empty()) ordered["package"] = package;
  for (auto const& [name, value] : members.items())
    if (!ordered.contains(name)) ordered[name] = value;
  if (!opaque.empty()) ordered[k_opaque] = opaque;
  return detail::encode_base64(ordered.dump());
}

merged_ident merge_idents(std::vector<fatbin> const& modules, std::string const& result,
                          std::vector<finding>& findings)
{
  auto const statements = read_idents(modules);
  check_contracts(statements, findings);
  merged_ident merged{statements.front().members, {}};
  for (auto const& stated : statements) keep_common(merged.members, stated.members);
  remove_partial_contract(statements, result, merged);
  return merged;
}

}  // namespace fatlink::cli
