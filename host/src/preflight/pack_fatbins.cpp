// SPDX-License-Identifier: Apache-2.0
// A fatbin has at most one entry of a kind and target, and links take one of them and assume that
// all have the same interface and ident.
#include "preflight/pack_fatbins.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "fatbin/entry_digests.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatbin/ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "preflight/symbols.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// An entry whose interface can be read.
struct described_entry {
  fatbin const* module;
  fatbin_entry const* entry;

  [[nodiscard]] preflight_input as_preflight_input() const
  {
    return {.file = module,
            .interface = module->interface(*entry),
            .ident = module->ident(),
            .is_opaque = false};
  }
  [[nodiscard]] std::string name() const
  {
    return detail::format("{} ({}:{})", module->name(), to_string(entry->kind),
                          entry->target.name());
  }
};

/// Whether `entry` is a cubin that shows all functions of its module; a whole program shows only
/// its kernels.
bool is_relocatable(fatbin_entry const& entry, fatbin const& module)
{
  return entry.kind == entry_kind::elf && entry_access::facts_of(module, entry).is_relocatable;
}

std::vector<described_entry> described_entries(fatbin const& module)
{
  std::vector<described_entry> list;
  for (auto const& entry : module.entries())
    if (entry.kind == entry_kind::ptx || is_relocatable(entry, module))
      list.push_back({&module, &entry});
  return list;
}

/// A symbol, and what the two entries do with it: "defines (b32) f(b32)".
struct difference {
  std::string symbol;
  std::string a;
  std::string b;
};

template <typename Symbol>
Symbol const* find_of(std::vector<Symbol> const& symbols, preflight_input const& input)
{
  auto const is_of = [&](Symbol const& symbol) { return symbol.input == &input; };
  auto const symbol = std::find_if(symbols.begin(), symbols.end(), is_of);
  return symbol == symbols.end() ? nullptr : &*symbol;
}

/// Weak definitions and hooks depend on what is inlined and called.
bool may_be_absent(symbol_role role)
{
  return role == symbol_role::weak_definition || role == symbol_role::hook;
}

char const* role_verb(symbol_role role)
{
  if (role == symbol_role::kernel) return "defines the kernel";
  return role == symbol_role::hook ? "declares" : "defines";
}

std::string describe_function(function_symbol const* symbol, std::string const& type)
{
  return symbol == nullptr ? "does not" : detail::format("{} {}", role_verb(symbol->role), type);
}

bool same_role(symbol_role a, symbol_role b)
{
  return std::string_view(role_verb(a)) == role_verb(b);
}

std::optional<difference> compare(function_symbol const* a, function_symbol const* b)
{
  auto const* any = a == nullptr ? b : a;
  if (any == nullptr) return std::nullopt;
  auto const& name = any->function->name;
  if (a == nullptr || b == nullptr) {
    if (may_be_absent(any->role)) return std::nullopt;
    auto const type = to_string(*any->function);
    return difference{name, describe_function(a, type), describe_function(b, type)};
  }
  if (same_role(a->role, b->role) && compare_types(*a, *b) != type_agreement::different)
    return std::nullopt;
  auto const [type_a, type_b] = describe_types(*a->function, *b->function);
  return difference{name, describe_function(a, type_a), describe_function(b, type_b)};
}

std::string describe_variable(variable_symbol const* symbol)
{
  if (symbol == nullptr) return "does not";
  return detail::format("{} {}", symbol->is_external ? "declares" : "defines",
                        to_string(*symbol->variable, with_alignment::yes));
}

std::optional<difference> compare(variable_symbol const* a, variable_symbol const* b)
{
  auto const* any = a == nullptr ? b : a;
  if (any == nullptr) return std::nullopt;
  auto const is_absent = a == nullptr || b == nullptr;
  if (is_absent && any->is_external) return std::nullopt;
  if (!is_absent && describe_variable(a) == describe_variable(b)) return std::nullopt;
  return difference{any->variable->name, describe_variable(a), describe_variable(b)};
}

/// Cubins state less of variables than PTX, so only PTX is compared.
std::optional<difference> compare_variables(symbol_group const& group, described_entry const& a,
                                            described_entry const& b, preflight_inputs const& pair)
{
  if (a.entry->kind != entry_kind::ptx || b.entry->kind != entry_kind::ptx) return std::nullopt;
  return compare(find_of(group.variables, pair[0]), find_of(group.variables, pair[1]));
}

/// The first difference between two entries.
std::optional<difference> compare(described_entry const& a, described_entry const& b)
{
  preflight_inputs const pair{a.as_preflight_input(), b.as_preflight_input()};
  symbol_index const symbols(pair);
  for (auto const& group : symbols.groups()) {
    if (auto result = compare(find_of(group.functions, pair[0]), find_of(group.functions, pair[1])))
      return result;
    if (auto result = compare_variables(group, a, b, pair)) return result;
  }
  return std::nullopt;
}

finding make_interface_mismatch(described_entry const& a, described_entry const& b,
                                difference const& shown)
{
  return {.id = finding_id::interface_mismatch,
          .severity = severity::error,
          .files = {a.module->name(), b.module->name()},
          .symbol = shown.symbol,
          .message = shown.a == "does not"
                         ? detail::format("{} {}, and {} does not", b.name(), shown.b, a.name())
                         : detail::format("{} {}, and {} {}", a.name(), shown.a, b.name(), shown.b),
          .hint =
              "pack files that were compiled from one source; pass other sources to the link as "
              "separate inputs"};
}

/// Nothing if an entry of `a` agrees with one of `b`; else the first difference.
std::optional<finding> compare(std::vector<described_entry> const& a,
                               std::vector<described_entry> const& b)
{
  std::optional<finding> first;
  for (auto const& entry : a)
    for (auto const& peer : b) {
      auto const shown = compare(entry, peer);
      if (!shown) return std::nullopt;
      if (!first) first = make_interface_mismatch(entry, peer, *shown);
    }
  return first;
}

/// Appends an interface-mismatch for each module that does not agree with the first one with PTX.
/// Two modules agree if a PTX entry of one has the kernels, definitions and variables of a PTX
/// entry of the other, and no function or variable with another type; entries of one module may
/// differ
/// (__CUDA_ARCH__).
/// @throws format_error PTX that does not decompress. @throws file_error PTX that cannot be read.
void compare_modules(std::vector<fatbin> const& modules, std::vector<finding>& findings)
{
  std::vector<described_entry> reference;
  for (auto const& module : modules) {
    auto const entries = described_entries(module);
    if (reference.empty())
      reference = entries;
    else if (auto difference = compare(reference, entries))
      findings.push_back(std::move(*difference));
  }
}

struct merged_ident {
  nlohmann::json members = {};             ///< without those about the entries
  std::vector<std::string> warnings = {};  ///< a contract that is not stated any more

  /// The ident text. An empty `package` keeps that of the modules; `opaque` as in ident.hpp.
  [[nodiscard]] std::string encode(std::string const& package,
                                   std::vector<std::string> const& opaque) const;
};

/// The members in the order in which fatlink_add_fatbin writes them.
constexpr std::array k_order{"fatlink", "contract", "version", "header_sha256", "contract_package",
                             "hooks",   "includes", "toolkit", "float",         "package"};
constexpr std::array k_contract{"contract",         "version", "header_sha256",
                                "contract_package", "hooks",   "includes"};
constexpr char const* k_opaque = "opaque";

/// An ident, and the module whose entries have it.
struct statement {
  fatbin const* module;
  fatlink::ident ident;
  nlohmann::json members;  ///< without those about the entries

  [[nodiscard]] bool has_contract() const { return !ident.contract.empty(); }
};

[[noreturn]] void fail_module(fatbin const& module, char const* cause, char const* hint)
{
  throw file_error(stage::fatbin,
                   {.message = detail::format("{}: {}: it cannot be packed", module.name(), cause),
                    .input = module.name(),
                    .code = error_code::foreign_ident,
                    .hint = hint});
}

statement read_ident(fatbin const& module, std::string const& text)
{
  if (text.empty()) return {&module, {}, {{"fatlink", k_ident_format}}};
  auto ident = parse_ident(text);
  if (!ident)
    fail_module(module, "has an ident that fatlink did not write",
                "build it again without -ident, or with fatlink_add_fatbin");
  if (ident->format != k_ident_format)
    fail_module(module, "has an ident from a newer fatlink",
                "install a newer package fatlink-runtime");
  auto members = nlohmann::json::parse(*decode_base64(text));
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
      detail::format("{} is built against contract {} (header {:.12})", stated.module->name(),
                     contract_of(stated.ident), stated.ident.header_sha256);
  return hook.empty() ? text
                      : detail::format("{}, which {}", text, describe_hook(stated.ident, hook));
}

finding make_contract_mismatch(statement const& a, statement const& b)
{
  auto const same_name = a.ident.contract == b.ident.contract && a.ident.version == b.ident.version;
  auto const hook = same_name ? differing_hook(a.ident, b.ident) : std::string{};
  return {.id = finding_id::contract_mismatch,
          .severity = severity::error,
          .files = {a.module->name(), b.module->name()},
          .symbol = hook,
          .message =
              detail::format("{}, and {}", describe_contract(a, hook), describe_contract(b, hook)),
          .hint = "build both against the same contract"};
}

void check_contracts(std::vector<statement> const& statements, std::vector<finding>& findings)
{
  auto const has_contract = [](statement const& stated) { return stated.has_contract(); };
  auto const first = std::find_if(statements.begin(), statements.end(), has_contract);
  for (auto const& stated : statements)
    if (has_contract(stated) && !same_contract(first->ident, stated.ident))
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
      detail::format("{} does not state contract {} of {}, because {} states no contract", result,
                     contract_of(with->ident), with->module->name(), without->module->name()));
}

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
  return encode_base64(ordered.dump());
}

/// `result` names the packed fatbin. Appends a contract-mismatch for two different contracts. A
/// contract that some modules do not state is not kept, because their types were not compared
/// with it.
/// @throws file_error (foreign-ident) an ident of another tool, or of a newer fatlink.
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

using entry_key = std::pair<entry_kind, target>;

std::string entry_name(fatbin_entry const& entry)
{
  return detail::format("{}:{}", name_of(entry.kind), entry.target.name());
}

/// Both have an entry like `entry`; they may be the same module.
finding duplicate(fatbin_entry const& entry, fatbin const& first, fatbin const& second)
{
  auto const& a = first.name();
  auto const& b = second.name();
  if (&first != &second && a == b)
    return {
        .id = finding_id::duplicate_entry,
        .severity = severity::error,
        .files = {a, b},
        .message = detail::format("{} is passed twice; a fatbin holds one entry for each kind and "
                                  "target",
                                  a),
        .hint = detail::format("pass {} once", a)};
  auto const holders = a == b ? detail::format("{} holds two {} entries", a, entry_name(entry))
                              : detail::format("{} and {} both hold {}", a, b, entry_name(entry));
  return {
      .id = finding_id::duplicate_entry,
      .severity = severity::error,
      .files = {a, b},
      .message = detail::format("{}; a fatbin holds one entry for each kind and target", holders),
      .hint =
          "pack the files of one translation unit, compiled for different architectures; pass "
          "other translation units to the link as separate inputs"};
}

/// A file that is passed twice has one finding, not one for each entry.
void add_once(std::vector<finding>& findings, finding next)
{
  if (std::ranges::find(findings, next.message, &finding::message) == findings.end())
    findings.push_back(std::move(next));
}

/// The module of each entry.
std::map<entry_key, fatbin const*> index_entries(std::vector<fatbin> const& modules,
                                                 std::vector<finding>& findings)
{
  std::map<entry_key, fatbin const*> owners;
  for (auto const& module : modules)
    for (auto const& entry : module.entries()) {
      auto const [owner, is_new] = owners.emplace(entry_key(entry.kind, entry.target), &module);
      if (!is_new) add_once(findings, duplicate(entry, *owner->second, module));
    }
  return owners;
}

bool is_ptx_for(fatbin_entry const& entry, target architecture)
{
  return entry.kind == entry_kind::ptx && entry.target == architecture;
}

bool is_stated_opaque(ident const& stated, target architecture)
{
  auto const& opaque = stated.opaque;
  return std::find(opaque.begin(), opaque.end(), architecture.name()) != opaque.end();
}

/// Whether a PTX entry of `module` states the types of its LTO-IR entry for `architecture`.
bool states_types(fatbin const& module, target architecture)
{
  auto const& entries = module.entries();
  auto const is_ptx = [&](auto const& entry) { return is_ptx_for(entry, architecture); };
  return std::any_of(entries.begin(), entries.end(), is_ptx) &&
         !(module.ident() && is_stated_opaque(*module.ident(), architecture));
}

/// The targets whose PTX is from another module than their LTO-IR, which may have other types.
std::vector<std::string> list_opaque(std::map<entry_key, fatbin const*> const& owners)
{
  std::vector<std::string> names;
  for (auto const& [key, owner] : owners)
    if (key.first == entry_kind::ltoir && owners.contains({entry_kind::ptx, key.second}) &&
        !states_types(*owner, key.second))
      names.push_back(key.second.name());
  return names;
}

/// not-relocatable: SASS that no link takes.
void check_relocatable(std::vector<fatbin> const& modules, std::vector<finding>& findings)
{
  for (auto const& module : modules)
    for (auto const& entry : module.entries())
      if (entry.kind == entry_kind::elf && !entry_access::facts_of(module, entry).is_relocatable)
        findings.push_back({.id = finding_id::not_relocatable,
                            .severity = severity::error,
                            .files = {module.name()},
                            .message = detail::format(
                                "{} holds a whole-program cubin for {}, which cannot be linked",
                                module.name(), entry.target.name()),
                            .hint = "compile it with nvcc -cubin -rdc=true"});
}

std::vector<fatbin_entry> copy_entries(std::vector<fatbin> const& modules, std::string const& ident)
{
  std::vector<fatbin_entry> entries;
  for (auto const& module : modules)
    for (auto const& entry : module.entries()) {
      entries.push_back(entry);
      entries.back().ident_text = ident;
    }
  return entries;
}

constexpr std::size_t k_package_bytes = 256;

}  // namespace

packed_fatbin pack_fatbins(std::vector<fatbin> const& modules, pack_settings const& settings)
{
  if (modules.empty())
    throw usage_error({.message = "there is nothing to pack", .hint = "pass at least one fatbin"});
  std::vector<finding> findings;
  auto const owners = index_entries(modules, findings);
  check_relocatable(modules, findings);
  compare_modules(modules, findings);
  auto ident = merge_idents(modules, settings.name, findings);
  if (!findings.empty()) throw refused_error(std::move(findings), "pack " + settings.name);
  auto const text = ident.encode(settings.package, list_opaque(owners));
  auto const written = write_fatbin(copy_entries(modules, text));
  packed_fatbin result{fatbin::from_bytes(add_digests(written, settings.name), settings.name),
                       {},
                       std::move(ident.warnings)};
  for (auto const& entry : result.contents.entries())
    result.files.push_back(owners.at({entry.kind, entry.target})->name());
  return result;
}

void check_package(std::string const& text)
{
  constexpr std::string_view k_characters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.:~_";
  auto const space = text.find(' ');
  auto const version = space == std::string::npos ? std::string("0") : text.substr(space + 1);
  auto const is_word = [&](std::string_view word) {
    return !word.empty() && word.find_first_not_of(k_characters) == std::string_view::npos;
  };
  if (text.size() > k_package_bytes || !is_word(text.substr(0, space)) || !is_word(version))
    throw usage_error(
        {.message = detail::format(
             "<pack_settings::package>: '{}' is not a name, or a name and a version", text),
         .input = text,
         .hint = "write it as my-transforms or 'my-transforms 1.2.0'"});
}

}  // namespace fatlink::detail
