// SPDX-License-Identifier: Apache-2.0
#include "preflight/linked_entry.hpp"

#include <algorithm>
#include <array>

#include "util/process/immortal.hpp"

namespace fatlink {
namespace {

constexpr std::array k_lto_kinds{entry_kind::ltoir, entry_kind::ptx, entry_kind::elf};
constexpr std::array k_ptx_kinds{entry_kind::ptx, entry_kind::elf};
constexpr std::array k_sass_kinds{entry_kind::elf};

std::span<entry_kind const> all_kinds(link_mode mode) noexcept
{
  switch (mode) {
    case link_mode::lto:
      return k_lto_kinds;
    case link_mode::ptx:
      return k_ptx_kinds;
    case link_mode::sass:
      break;
  }
  return k_sass_kinds;
}

/// SASS links for exactly its own target: sm_90a code does not run wherever sm_90 code does, though
/// nvJitLink takes one for the other.
fatbin_entry const* find_sass(fatbin const& input, target link_target) noexcept
{
  auto const& entries = input.entries();
  auto const entry = std::find_if(entries.begin(), entries.end(), [&](fatbin_entry const& sass) {
    return sass.kind == entry_kind::elf && sass.target == link_target && shows_interface(sass);
  });
  return entry == entries.end() ? nullptr : &*entry;
}

fatbin_entry const* find_entry(fatbin const& input, entry_kind kind, target link_target) noexcept
{
  return kind == entry_kind::elf ? find_sass(input, link_target) : input.find(kind, link_target);
}

/// Whether the ident states that the PTX beside `ltoir` is from another file.
bool is_stated_opaque(fatbin const& input, fatbin_entry const& ltoir)
{
  if (!input.ident() || input.ident()->opaque.empty()) return false;
  auto const& opaque = input.ident()->opaque;
  return std::find(opaque.begin(), opaque.end(), ltoir.target.name()) != opaque.end();
}

/// The PTX entry that states the types of `ltoir`; null if none or several have its architecture.
fatbin_entry const* find_ptx_of(fatbin const& input, fatbin_entry const& ltoir) noexcept
try {
  if (is_stated_opaque(input, ltoir)) return nullptr;
  fatbin_entry const* ptx = nullptr;
  for (auto const& entry : input.entries()) {
    if (entry.target != ltoir.target || &entry == &ltoir) continue;
    if (entry.kind != entry_kind::ltoir && entry.kind != entry_kind::ptx) continue;
    if (entry.kind == entry_kind::ltoir || ptx != nullptr) return nullptr;
    ptx = &entry;
  }
  return ptx;
} catch (std::exception const&) {
  return nullptr;  // out of memory: types count as unknown
}

fatbin_entry const* last_of(fatbin const& input, entry_kind kind) noexcept
{
  fatbin_entry const* last = nullptr;
  for (auto const& entry : input.entries())
    if (entry.kind == kind && shows_interface(entry)) last = &entry;
  return last;
}

/// An entry whose interface can be read: PTX that links for `link_target`, else any PTX, else SASS.
fatbin_entry const* find_readable(fatbin const& input, target link_target) noexcept
{
  if (auto const* ptx = input.find(entry_kind::ptx, link_target); ptx != nullptr) return ptx;
  if (auto const* ptx = last_of(input, entry_kind::ptx); ptx != nullptr) return ptx;
  return last_of(input, entry_kind::elf);
}

}  // namespace

entry_kind detail::kind_of(link_mode mode) noexcept
{
  return all_kinds(mode).front();
}

std::span<entry_kind const> detail::kinds_of(entry_choice const& choice) noexcept
{
  auto const kinds = all_kinds(choice.mode);
  return choice.allow_calls ? kinds : kinds.first(1);
}

bool detail::states_float_flags(fatbin_entry const& entry) noexcept
{
  return fatlink::states_float_flags(entry.options);
}

char const* detail::describe(entry_kind kind) noexcept
{
  switch (kind) {
    case entry_kind::ptx:
      return "PTX";
    case entry_kind::ltoir:
      return "LTO-IR";
    case entry_kind::tileir:
      return "Tile IR";
    case entry_kind::elf:
      break;
  }
  return "SASS";
}

fatbin_entry const* linked_entry(fatbin const& input, entry_choice const& choice) noexcept
{
  for (auto const kind : detail::kinds_of(choice))
    if (auto const* entry = find_entry(input, kind, choice.target); entry != nullptr) return entry;
  return nullptr;
}

bool is_opaque(fatbin const& input, entry_choice const& choice) noexcept
{
  auto const* entry = linked_entry(input, choice);
  return entry != nullptr && entry->kind == entry_kind::ltoir &&
         find_ptx_of(input, *entry) == nullptr;
}

fatbin_entry const* detail::readable_entry(fatbin const& input, entry_choice const& choice) noexcept
{
  auto const* linked = linked_entry(input, choice);
  if (linked == nullptr) return find_readable(input, choice.target);
  return linked->kind == entry_kind::ltoir ? find_ptx_of(input, *linked) : linked;
}

ptx_interface const& interface_of(fatbin const& input, entry_choice const& choice)
{
  static detail::immortal<ptx_interface const> const empty;
  auto const* readable = detail::readable_entry(input, choice);
  return readable == nullptr ? empty.get() : input.interface(*readable);
}

}  // namespace fatlink
