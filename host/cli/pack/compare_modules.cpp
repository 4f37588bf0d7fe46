// SPDX-License-Identifier: Apache-2.0
#include "pack/compare_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fatbin/entry_facts.hpp"
#include "preflight/symbols.hpp"
#include "preflight/types.hpp"

namespace fatlink::cli {
namespace {

using detail::function_symbol;
using detail::preflight_input;
using detail::preflight_inputs;
using detail::symbol_role;

/// An entry whose interface can be read.
struct readable_entry {
  fatbin const* module;
  fatbin_entry const* entry;

  [[nodiscard]] preflight_input describe() const
  {
    return {.file = module,
            .interface = module->interface(*entry),
            .ident = module->ident(),
            .is_opaque = false};
  }
  [[nodiscard]] std::string name() const
  {
    return fmt::format("{} ({}:{})", module->name(), to_string(entry->kind), entry->target.name());
  }
};

/// Whether `entry` is a cubin that shows all functions of its module; a whole program shows only
/// its kernels.
bool is_relocatable(fatbin_entry const& entry, fatbin const& module)
{
  return entry.kind == entry_kind::elf && entry_access::facts_of(module, entry).is_relocatable;
}

std::vector<readable_entry> readable_entries(fatbin const& module)
{
  std::vector<readable_entry> list;
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

char const* verb_of(symbol_role role)
{
  if (role == symbol_role::kernel) return "defines the kernel";
  return role == symbol_role::hook ? "declares" : "defines";
}

std::string describe_function(function_symbol const* symbol, std::string const& type)
{
  return symbol == nullptr ? "does not" : fmt::format("{} {}", verb_of(symbol->role), type);
}

bool same_role(symbol_role a, symbol_role b)
{
  return std::string_view(verb_of(a)) == verb_of(b);
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
  if (same_role(a->role, b->role) && compare_types(*a, *b) != detail::type_agreement::different)
    return std::nullopt;
  auto const [type_a, type_b] = detail::describe_types(*a->function, *b->function);
  return difference{name, describe_function(a, type_a), describe_function(b, type_b)};
}

std::string describe_variable(detail::variable_symbol const* symbol)
{
  if (symbol == nullptr) return "does not";
  return fmt::format("{} {}", symbol->is_external ? "declares" : "defines",
                     to_string(*symbol->variable, with_alignment::yes));
}

std::optional<difference> compare(detail::variable_symbol const* a,
                                  detail::variable_symbol const* b)
{
  auto const* any = a == nullptr ? b : a;
  if (any == nullptr) return std::nullopt;
  auto const is_absent = a == nullptr || b == nullptr;
  if (is_absent && any->is_external) return std::nullopt;
  if (!is_absent && describe_variable(a) == describe_variable(b)) return std::nullopt;
  return difference{any->variable->name, describe_variable(a), describe_variable(b)};
}

/// Cubins state less of variables than PTX, so only PTX is compared.
std::optional<difference> compare_variables(detail::symbol_group const& group,
                                            readable_entry const& a, readable_entry const& b,
                                            preflight_inputs const& pair)
{
  if (a.entry->kind != entry_kind::ptx || b.entry->kind != entry_kind::ptx) return std::nullopt;
  return compare(find_of(group.variables, pair[0]), find_of(group.variables, pair[1]));
}

/// The first difference between two entries.
std::optional<difference> compare(readable_entry const& a, readable_entry const& b)
{
  preflight_inputs const pair{a.describe(), b.describe()};
  detail::symbol_index const symbols(pair);
  for (auto const& group : symbols.groups()) {
    if (auto result = compare(find_of(group.functions, pair[0]), find_of(group.functions, pair[1])))
      return result;
    if (auto result = compare_variables(group, a, b, pair)) return result;
  }
  return std::nullopt;
}

finding make_interface_mismatch(readable_entry const& a, readable_entry const& b,
                                difference const& shown)
{
  return {.id = finding_id::interface_mismatch,
          .severity = severity::error,
          .files = {a.module->name(), b.module->name()},
          .symbol = shown.symbol,
          .message = shown.a == "does not"
                         ? fmt::format("{} {}, and {} does not", b.name(), shown.b, a.name())
                         : fmt::format("{} {}, and {} {}", a.name(), shown.a, b.name(), shown.b),
          .hint =
              "pack files that were compiled from one source; pass other sources to the link as "
              "inputs of their own"};
}

/// Nothing if an entry of `a` agrees with one of `b`; else the first difference.
std::optional<finding> compare(std::vector<readable_entry> const& a,
                               std::vector<readable_entry> const& b)
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

}  // namespace

void compare_modules(std::vector<fatbin> const& modules, std::vector<finding>& findings)
{
  std::vector<readable_entry> reference;
  for (auto const& module : modules) {
    auto const entries = readable_entries(module);
    if (reference.empty())
      reference = entries;
    else if (auto difference = compare(reference, entries))
      findings.push_back(std::move(*difference));
  }
}

}  // namespace fatlink::cli
