// SPDX-License-Identifier: Apache-2.0
// Checks by their idents that the inputs were built against the same contracts. Inputs may state
// different contracts if each is used in the link and no hook belongs to two of them.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/contract_identity.hpp"
#include "preflight/finding_limit.hpp"
#include "preflight/interface_queries.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbol_index.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_runtime_package = "fatlink-runtime";

/// The check that remains for the types of inputs without a contract; `owner` is "its" or "their".
std::string remaining_check(preflight_inputs const& inputs, char const* owner)
{
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  return std::any_of(inputs.begin(), inputs.end(), is_opaque)
             ? detail::format("{} types are not compared before the link", owner)
             : detail::format(
                   "only widths and arity could be checked, and int and float of one "
                   "width look alike where {} code does not tell them apart",
                   owner);
}

/// One finding for all of `names`, the inputs without a contract.
finding uncontracted(std::vector<std::string> names, preflight_inputs const& inputs)
{
  auto const is_one = names.size() == 1;
  auto message =
      detail::format("{} {} no contract; {}", list_names(names), is_one ? "states" : "state",
                     remaining_check(inputs, is_one ? "its" : "their"));
  return {.id = finding_id::uncontracted,
          .severity = severity::warning,
          .files = std::move(names),
          .message = std::move(message),
          .hint = detail::format("build {} with fatlink_add_fatbin(… CONTRACT …)",
                                 is_one ? "it" : "them")};
}

finding too_old(fatbin const& input, int format)
{
  return {.id = finding_id::fatlink_too_old,
          .severity = severity::error,
          .files = {input.name()},
          .message = detail::format("{} describes itself in format {}, and this fatlink reads {}",
                                    input.name(), format, k_ident_format),
          .hint = detail::format("install a newer package {}", k_runtime_package)};
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
  return !input.interface.hooks.empty() || !input.interface.kernels.empty();
}

/// "package fatlink-transforms" of "fatlink-transforms 0.1.0"; the file where it states none.
std::string package_of(preflight_input const& input)
{
  auto const& stated = input.ident->package;
  if (stated.empty()) return input.file->name();
  return "package " + stated.substr(0, stated.find(' '));
}

/// The packages to install, so that both have the newer contract or both the older one.
std::string remedy(preflight_input const& older, preflight_input const& newer)
{
  auto const contract = contract_of(*newer.ident);
  if (!is_library(older))
    return detail::format("install a version of {} that is built against {}", package_of(older),
                          contract);
  auto const& package = newer.ident->contract_package;
  return detail::format("install {}, whose library has {}; or a version of {} built against {}",
                        package.empty() ? "a newer version of " + package_of(older)
                                        : detail::format("package {} or newer", package),
                        contract, package_of(newer), contract_of(*older.ident));
}

std::string hint_for(preflight_input const& a, preflight_input const& b)
{
  if (a.ident->contract != b.ident->contract)
    return detail::format("{} is for libraries with {}: pass one that is for {}", b.file->name(),
                          contract_of(*b.ident), contract_of(*a.ident));
  if (a.ident->version == b.ident->version)
    return detail::format("install versions of {} and {} that are built against the same contract",
                          package_of(a), package_of(b));
  return a.ident->version < b.ident->version ? remedy(a, b) : remedy(b, a);
}

/// Names the hook in which two contracts of one name and version differ.
std::string describe_difference(preflight_input const& a, preflight_input const& b)
{
  auto const same_name =
      a.ident->contract == b.ident->contract && a.ident->version == b.ident->version;
  auto const hook = same_name ? differing_hook(*a.ident, *b.ident) : std::string{};
  if (hook.empty()) return detail::format("{} and {}", describe(a), describe(b));
  return detail::format("{}, which {}, and {}, which {}", describe(a),
                        describe_hook(*a.ident, hook), describe(b), describe_hook(*b.ident, hook));
}

finding mismatch(preflight_input const& a, preflight_input const& b)
{
  return {.id = finding_id::contract_mismatch,
          .severity = severity::error,
          .files = {a.file->name(), b.file->name()},
          .message = describe_difference(a, b),
          .hint = hint_for(a, b)};
}

using input_pointers = std::vector<preflight_input const*>;

/// Inputs that state one contract name must agree on its version and hooks.
void check_versions(input_pointers const& inputs, std::vector<finding>& findings)
{
  for (auto const* input : inputs) {
    auto const reference = std::find_if(inputs.begin(), inputs.end(), [&](auto const* peer) {
      return peer->ident->contract == input->ident->contract;
    });
    if (!same_contract(*(*reference)->ident, *input->ident))
      findings.push_back(mismatch(**reference, *input));
  }
}

bool defines(preflight_input const& input, symbol_group const& group)
{
  return group.has(symbol_role::definition, input) ||
         group.has(symbol_role::weak_definition, input);
}

/// The hooks that `caller` calls and `definer` defines.
std::vector<std::string> shared_hooks(symbol_index const& symbols, preflight_input const& caller,
                                      preflight_input const& definer)
{
  std::vector<std::string> names;
  for (auto const* list : {&definer.interface.definitions, &definer.interface.weak})
    for (auto const& function : *list)
      if (symbols.find(function.name).calls(caller, definer)) names.push_back(function.name);
  return names;
}

/// `undeclared` calls or defines a hook of the other's contract without stating that contract.
finding untyped(symbol_index const& symbols, preflight_input const& undeclared,
                preflight_input const& declared, std::string const& hook)
{
  auto const is_definer = defines(undeclared, symbols.find(hook));
  return {
      .id = finding_id::uncontracted,
      .severity = severity::warning,
      .files = {undeclared.file->name()},
      .symbol = hook,
      .message = detail::format("{} {} {}, a hook of contract {}, and states contract {}, which "
                                "does not declare it; only widths and arity could be checked",
                                undeclared.file->name(), is_definer ? "defines" : "calls", hook,
                                contract_of(*declared.ident), contract_of(*undeclared.ident)),
      .hint = detail::format("build that code with fatlink_add_fatbin(… CONTRACT {} …)",
                             declared.ident->contract)};
}

/// A hook between inputs of different contracts belongs to one of the two.
void check_shared_hooks(symbol_index const& symbols, preflight_input const& caller,
                        preflight_input const& definer, std::vector<finding>& findings)
{
  finding_limit untyped_hooks(findings);
  for (auto const& hook : shared_hooks(symbols, caller, definer)) {
    auto const called = may_declare(*caller.ident, hook);
    auto const defined = may_declare(*definer.ident, hook);
    if (called && defined) return findings.push_back(mismatch(caller, definer));
    if (called) untyped_hooks.add([&] { return untyped(symbols, definer, caller, hook); });
    if (defined) untyped_hooks.add([&] { return untyped(symbols, caller, definer, hook); });
  }
  untyped_hooks.finish();
}

/// Whether a hook connects `input` to another input, or another input states its contract.
bool has_part(symbol_index const& symbols, preflight_input const& input,
              input_pointers const& contracted, preflight_inputs const& inputs)
{
  return std::any_of(contracted.begin(), contracted.end(),
                     [&](auto const* peer) {
                       return peer != &input && peer->ident->contract == input.ident->contract;
                     }) ||
         std::any_of(inputs.begin(), inputs.end(), [&](auto const& peer) {
           return &peer != &input && !(shared_hooks(symbols, peer, input).empty() &&
                                       shared_hooks(symbols, input, peer).empty());
         });
}

/// Reports inputs without a part in the link, each with the first input of another contract.
void check_strays(symbol_index const& symbols, input_pointers const& contracted,
                  preflight_inputs const& inputs, std::vector<finding>& findings)
{
  std::set<std::set<preflight_input const*>> reported;
  for (auto const* stray : contracted) {
    if (has_part(symbols, *stray, contracted, inputs)) continue;
    auto const counterpart = std::find_if(
        contracted.begin(), contracted.end(),
        [&](auto const* input) { return input->ident->contract != stray->ident->contract; });
    if (counterpart == contracted.end() || !reported.insert({stray, *counterpart}).second) continue;
    auto const swapped = is_library(*stray) && !is_library(**counterpart);
    findings.push_back(swapped ? mismatch(*stray, **counterpart) : mismatch(**counterpart, *stray));
  }
}

void check_contract_names(symbol_index const& symbols, input_pointers const& contracted,
                          preflight_inputs const& inputs, std::vector<finding>& findings)
{
  check_versions(contracted, findings);
  for (auto const* caller : contracted)
    for (auto const* definer : contracted)
      if (caller->ident->contract != definer->ident->contract)
        check_shared_hooks(symbols, *caller, *definer, findings);
  check_strays(symbols, contracted, inputs, findings);
}

}  // namespace

void check_contracts(preflight_inputs const& inputs, symbol_index const& symbols,
                     std::vector<finding>& findings)
{
  input_pointers contracted;
  std::vector<std::string> without;
  for (auto const& input : inputs) {
    if (input.ident && input.ident->format > k_ident_format)
      findings.push_back(too_old(*input.file, input.ident->format));
    else if (!input.ident || input.ident->contract.empty())
      without.push_back(input.file->name());
    else
      contracted.push_back(&input);
  }
  if (!without.empty()) findings.push_back(uncontracted(std::move(without), inputs));
  check_contract_names(symbols, contracted, inputs, findings);
}

}  // namespace fatlink::detail
