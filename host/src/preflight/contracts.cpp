// SPDX-License-Identifier: Apache-2.0
// Contracts: checks by the idents that the inputs were built against the same ones. Inputs may
// state different contracts if each is used in the link, and no hook belongs to two of them, except
// where the library's contract includes the transform's.
#include "preflight/contracts.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatbin/ident.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

std::optional<sized_name> split_size(std::string_view name)
{
  auto const place = name.rfind('_');
  if (place == name.npos || place == 0 || place + 1 == name.size()) return std::nullopt;
  auto const bytes = name.substr(place + 1);
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::ranges::all_of(bytes, is_digit)) return std::nullopt;
  return sized_name{.base = name.substr(0, place), .bytes = bytes};
}

bool differ_in_size(std::string_view a, std::string_view b)
{
  auto const first = split_size(a);
  auto const second = split_size(b);
  return first && second && first->base == second->base && first->bytes != second->bytes;
}

std::string library_of_size(std::string const& file, std::string_view contract)
{
  auto const stem = std::filesystem::path(file).stem().string();
  auto const library = split_size(stem);
  auto const wanted = split_size(contract);
  if (!library || !wanted) return {};
  return detail::format("{}_{}", library->base, wanted->bytes);
}

std::string describe_elements(ident const& stated)
{
  auto const bytes = split_size(stated.contract)->bytes;
  return stated.elements.empty()
             ? detail::format("{} bytes", bytes)
             : detail::format("{} bytes ({})", bytes, stated.elements.begin()->second.type);
}

namespace {

/// Whether the contracts differ in the size of elements only: of one another, or of a contract that
/// one of them includes.
bool differ_in_size(ident const& a, ident const& b)
{
  auto const includes_other_size = [](ident const& library, ident const& transform) {
    return std::ranges::any_of(library.includes, [&](auto const& included) {
      return detail::differ_in_size(included.first, transform.contract);
    });
  };
  if (!split_size(a.contract) || !split_size(b.contract)) return false;
  return detail::differ_in_size(a.contract, b.contract) || includes_other_size(a, b) ||
         includes_other_size(b, a);
}

/// The remedy for a library in `file` and a transform, of contracts that differ in size.
std::string size_hint(std::string const& file, ident const& library, ident const& transform)
{
  auto const name = library_of_size(file, transform.contract);
  return detail::format("pass the library for elements of {} bytes{}; or a transform for {}",
                        split_size(transform.contract)->bytes,
                        name.empty() ? ", with " + contract_of(transform) : ": " + name,
                        contract_of(library));
}

constexpr char const* k_runtime_package = "fatlink-runtime";

/// The check that remains for the types of inputs without a contract; `owner` is "its" or "their".
std::string remaining_check(preflight_inputs const& inputs, char const* owner)
{
  auto const is_opaque = [](preflight_input const& input) { return input.is_opaque; };
  return std::any_of(inputs.begin(), inputs.end(), is_opaque)
             ? detail::format("{} types are not compared before the link", owner)
             : detail::format(
                   "only the number and sizes of {} parameters are compared: an int that is passed "
                   "as a float may remain undetected",
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
          .hint = detail::format("build {} with fatlink_add_fatbin(… CONTRACT …), or with "
                                 "<fatlink::compiler and compile_options::contract>",
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

std::string describe_contract(preflight_input const& input)
{
  auto const& stated = *input.ident;
  return detail::format(
      "{}{} is built against contract {} (header {:.12})", input.file->name(),
      stated.package.empty() ? "" : detail::format(" (package {})", stated.package),
      contract_of(stated), stated.header_sha256);
}

/// Whether it states a contract that this fatlink reads.
bool states_known_contract(preflight_input const& input)
{
  return input.ident && input.ident->format <= k_ident_format && !input.ident->contract.empty();
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
std::string advise_install(preflight_input const& older, preflight_input const& newer)
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
  if (differ_in_size(*a.ident, *b.ident) && is_library(a) != is_library(b))
    return is_library(a) ? size_hint(a.file->name(), *a.ident, *b.ident)
                         : size_hint(b.file->name(), *b.ident, *a.ident);
  if (a.ident->contract != b.ident->contract)
    return detail::format("{0} is for libraries with {1}: pass one that is for {2}{3}",
                          b.file->name(), contract_of(*b.ident), contract_of(*a.ident),
                          is_library(a) ? ", or a library with " + contract_of(*b.ident) : "");
  if (a.ident->version == b.ident->version)
    return detail::format(
        "install versions of {} and {} that are built against the same contract; the author of "
        "the contract raises VERSION of fatlink_add_contract when a declaration changes",
        package_of(a), package_of(b));
  return a.ident->version < b.ident->version ? advise_install(a, b) : advise_install(b, a);
}

/// Names the hook in which two contracts of one name and version differ.
std::string describe_difference(preflight_input const& a, preflight_input const& b)
{
  if (differ_in_size(*a.ident, *b.ident))
    return detail::format("{}, for elements of {}, and {}, for elements of {}",
                          describe_contract(a), describe_elements(*a.ident), describe_contract(b),
                          describe_elements(*b.ident));
  auto const same_name =
      a.ident->contract == b.ident->contract && a.ident->version == b.ident->version;
  if (!same_name) return detail::format("{} and {}", describe_contract(a), describe_contract(b));
  auto const hook = differing_hook(*a.ident, *b.ident);
  if (hook.empty())
    return detail::format("{} and {}: the header changed, and its version {} was not raised",
                          describe_contract(a), describe_contract(b), a.ident->version);
  return detail::format(
      "{}, which {}, and {}, which {}: the declaration changed, and the version {} was not raised",
      describe_contract(a), describe_hook(*a.ident, hook), describe_contract(b),
      describe_hook(*b.ident, hook), a.ident->version);
}

finding make_contract_mismatch(preflight_input const& a, preflight_input const& b)
{
  return {.id = finding_id::contract_mismatch,
          .severity = severity::error,
          .files = {a.file->name(), b.file->name()},
          .message = describe_difference(a, b),
          .hint = hint_for(a, b)};
}

using input_pointers = std::vector<preflight_input const*>;

using inputs_by_contract = std::map<std::string_view, input_pointers>;

/// Inputs that state one contract name must agree on its version and hooks.
void check_versions(inputs_by_contract const& contracts, std::vector<finding>& findings)
{
  finding_limit mismatches(findings);
  for (auto const& contract : contracts) {
    auto const& reference = *contract.second.front();
    for (auto const* input : contract.second)
      if (!same_contract(*reference.ident, *input->ident))
        mismatches.add([&] { return make_contract_mismatch(reference, *input); });
  }
  mismatches.finish();
}

bool defines(preflight_input const& input, symbol_group const& group)
{
  return group.has(symbol_role::definition, input) ||
         group.has(symbol_role::weak_definition, input);
}

/// A caller and a definer of hooks.
using input_pair = std::pair<preflight_input const*, preflight_input const*>;
using shared_hooks = std::map<input_pair, std::vector<std::string_view>>;

/// Adds the hooks of `functions` that inputs of other contracts call and `definer` defines in
/// `role`.
void add_shared_hooks(symbol_index const& symbols, preflight_input const& definer,
                      std::vector<ptx_function> const& functions, symbol_role role,
                      shared_hooks& shared)
{
  constexpr std::size_t k_most_pairs = std::size_t{1} << 18U;
  for (auto const& function : functions) {
    auto const& group = symbols.find(function.name);
    if (shared.size() >= k_most_pairs || !group.is_called(role, definer)) continue;
    for (auto const& use : group.uses) {
      auto const is_caller =
          use.role == symbol_role::hook ||
          (role == symbol_role::definition && use.role == symbol_role::weak_definition);
      if (is_caller && states_known_contract(*use.input) &&
          use.input->ident->contract != definer.ident->contract)
        shared[{use.input, &definer}].push_back(function.name);
    }
  }
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
      .message = detail::format(
          "{} {} {}, a hook of contract {}, and states contract {}, which "
          "does not declare it; only the number and sizes of its parameters are compared",
          undeclared.file->name(), is_definer ? "defines" : "calls", hook,
          contract_of(*declared.ident), contract_of(*undeclared.ident)),
      .hint = detail::format("build that code with fatlink_add_fatbin(… CONTRACT {0} …), or with "
                             "<fatlink::compiler and compile_options::contract>",
                             declared.ident->contract)};
}

/// A hook between inputs of different contracts belongs to one of the two.
void check_shared_hooks(symbol_index const& symbols, input_pair const& pair,
                        std::vector<std::string_view> const& hooks, finding_limit& mismatches,
                        finding_limit& untyped_hooks)
{
  auto const& caller = *pair.first;
  auto const& definer = *pair.second;
  for (auto const& name : hooks) {
    std::string const hook(name);
    auto const called = may_declare(*caller.ident, hook);
    auto const defined = may_declare(*definer.ident, hook);
    if (called && defined && takes_contract(*caller.ident, *definer.ident) &&
        describe_hook(*caller.ident, hook) == describe_hook(*definer.ident, hook))
      continue;
    if (called && defined)
      return mismatches.add([&] { return make_contract_mismatch(caller, definer); });
    if (called) untyped_hooks.add([&] { return untyped(symbols, definer, caller, hook); });
    if (defined) untyped_hooks.add([&] { return untyped(symbols, caller, definer, hook); });
  }
}

/// Reports inputs without a part in the link, each with the first input of another contract.
void check_strays(symbol_index const& symbols, input_pointers const& contracted,
                  inputs_by_contract const& contracts, std::vector<finding>& findings)
{
  std::set<std::set<preflight_input const*>> reported;
  finding_limit mismatches(findings);
  for (auto const* stray : contracted) {
    if (contracts.at(stray->ident->contract).size() > 1 || is_connected(symbols, *stray)) continue;
    auto const counterpart = std::find_if(
        contracted.begin(), contracted.end(),
        [&](auto const* input) { return input->ident->contract != stray->ident->contract; });
    if (counterpart == contracted.end() || !reported.insert({stray, *counterpart}).second) continue;
    auto const swapped = is_library(*stray) && !is_library(**counterpart);
    mismatches.add([&] {
      return swapped ? make_contract_mismatch(*stray, **counterpart)
                     : make_contract_mismatch(**counterpart, *stray);
    });
  }
  mismatches.finish();
}

void check_contract_names(symbol_index const& symbols, input_pointers const& contracted,
                          std::vector<finding>& findings)
{
  inputs_by_contract contracts;
  for (auto const* input : contracted) contracts[input->ident->contract].push_back(input);
  check_versions(contracts, findings);
  if (contracts.size() < 2) return;
  shared_hooks shared;
  for (auto const* definer : contracted) {
    auto const& interface = definer->interface;
    add_shared_hooks(symbols, *definer, interface.definitions, symbol_role::definition, shared);
    add_shared_hooks(symbols, *definer, interface.weak, symbol_role::weak_definition, shared);
  }
  finding_limit mismatches(findings);
  finding_limit untyped_hooks(findings);
  for (auto const& [pair, hooks] : shared)
    check_shared_hooks(symbols, pair, hooks, mismatches, untyped_hooks);
  mismatches.finish();
  untyped_hooks.finish();
  check_strays(symbols, contracted, contracts, findings);
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
  check_contract_names(symbols, contracted, findings);
}

}  // namespace fatlink::detail
