// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_fatbins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fatbin/entry_digests.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/preflight.hpp"
#include "pack/compare_modules.hpp"
#include "pack/merge_idents.hpp"

namespace fatlink::cli {
namespace {

using entry_key = std::pair<entry_kind, target>;

std::string name_of(fatbin_entry const& entry)
{
  return fmt::format("{}:{}", name_of(entry.kind), entry.target.name());
}

/// Both have an entry like `entry`; they may be the same module.
finding duplicate(fatbin_entry const& entry, fatbin const& first, fatbin const& second)
{
  auto const& a = first.name();
  auto const& b = second.name();
  if (&first != &second && a == b)
    return {.id = finding_id::duplicate_entry,
            .severity = severity::error,
            .files = {a, b},
            .message = fmt::format("{} is passed twice; a fatbin holds one entry for each kind and "
                                   "target",
                                   a),
            .hint = fmt::format("pass {} once", a)};
  auto const holders = a == b ? fmt::format("{} holds two {} entries", a, name_of(entry))
                              : fmt::format("{} and {} both hold {}", a, b, name_of(entry));
  return {.id = finding_id::duplicate_entry,
          .severity = severity::error,
          .files = {a, b},
          .message = fmt::format("{}; a fatbin holds one entry for each kind and target", holders),
          .hint =
              "pack the files of one translation unit, compiled for different architectures; "
              "pass other translation units to the link as inputs of their own"};
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
        findings.push_back(
            {.id = finding_id::not_relocatable,
             .severity = severity::error,
             .files = {module.name()},
             .message = fmt::format("{} holds a whole-program cubin for {}, which no link takes",
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

}  // namespace

packed_fatbin pack_fatbins(std::vector<fatbin> const& modules, pack_settings const& settings)
{
  std::vector<finding> findings;
  auto const owners = index_entries(modules, findings);
  check_relocatable(modules, findings);
  compare_modules(modules, findings);
  auto ident = merge_idents(modules, settings.name, findings);
  if (!findings.empty()) throw refused_error(std::move(findings), "pack " + settings.name);
  auto const text = ident.encode(settings.package, list_opaque(owners));
  auto const written = detail::write_fatbin(copy_entries(modules, text));
  packed_fatbin result{
      fatbin::from_bytes(detail::add_digests(written, settings.name), settings.name),
      {},
      std::move(ident.warnings)};
  for (auto const& entry : result.contents.entries())
    result.files.push_back(owners.at({entry.kind, entry.target})->name());
  return result;
}

}  // namespace fatlink::cli
