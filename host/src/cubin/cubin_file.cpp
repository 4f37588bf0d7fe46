// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin_file.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>

#include "cubin/check_tables.hpp"

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

bool has_bytes(elf_section const& section)
{
  switch (section.type) {
    case SHT_NULL:
    case SHT_NOBITS:
    case k_global:
    case k_local:
    case k_shared:
    case k_reserved:
      return false;
    default:
      return true;
  }
}

elf_reader open(bytes_view bytes)
{
  elf_reader const elf(bytes);
  if (elf.machine() != k_elf_machine_cuda)
    throw elf_error{offsetof(Elf64_Ehdr, e_machine), "is not a CUDA ELF file"};
  return elf;
}

std::vector<elf_section> list_sections(elf_reader const& elf)
{
  auto const count = elf.section_count();
  if (count == 0) throw elf_error{offsetof(Elf64_Ehdr, e_shnum), "it has no sections"};
  std::vector<elf_section> sections;
  sections.reserve(count);
  for (std::uint32_t index = 0; index < count; ++index) sections.push_back(elf.section(index));
  return sections;
}

std::uint32_t find_symbols(std::vector<elf_section> const& sections)
{
  std::uint32_t position = 0;
  for (std::uint32_t index = 1; index < sections.size(); ++index) {
    if (sections[index].type != SHT_SYMTAB) continue;
    if (position != 0) throw elf_error{sections[index].offset, "it has a second symbol table"};
    position = index;
  }
  if (position == 0) throw elf_error{offsetof(Elf64_Ehdr, e_shnum), "it has no symbol table"};
  return position;
}

/// Requires names that are each terminated by a NUL.
void check_names(bytes_view names, std::uint64_t offset)
{
  if (names.empty() || names.back() != std::byte{0})
    throw elf_error{offset, "a table of names does not end with a NUL"};
}

/// Whether a name in `names` begins at `offset`, which is inside. Compilers do not share the ends
/// of names.
bool is_whole(bytes_view names, std::uint64_t offset)
{
  return offset == 0 || names[static_cast<std::size_t>(offset) - 1] == std::byte{0};
}

/// The largest alignment that is plausible. nvJitLink does not end, or uses gigabytes, above 8 MiB.
constexpr std::uint64_t k_most_aligned = std::uint64_t{1} << 20;

bool is_alignment(std::uint64_t value)
{
  return std::has_single_bit(value) && value <= k_most_aligned;
}

/// The types of sections that nvJitLink finds by name.
struct named_type {
  char const* name;  ///< or the beginning of it
  std::uint32_t type;
};
constexpr std::array k_named_types{
    named_type{".debug_", SHT_PROGBITS},
    named_type{".note.nv.", SHT_NOTE},
    named_type{".nv.capmerc.", k_mercury_code},
    named_type{".nv.merc.nv.info", k_mercury_info},
    named_type{".nv.merc.nv.constant.optimizer", k_mercury_optimizer},
    named_type{".nv.merc.rela.", k_mercury_relocations},
    named_type{".nv.merc.symtab", k_mercury_symbols},
    named_type{".nv.callgraph", k_callgraph},
    named_type{".nv.info", k_info},
    named_type{".nv.prototype", k_prototype},
    named_type{".nv_debug_", SHT_PROGBITS},
    named_type{".rel.", SHT_REL},
    named_type{".rela.", SHT_RELA},
    named_type{".shstrtab", SHT_STRTAB},
    named_type{".strtab", SHT_STRTAB},
    named_type{".text.", SHT_PROGBITS}};

/// The value of undefined symbols and of those in shared memory is an alignment.
void check_alignment(elf_symbol const& symbol, std::uint64_t place)
{
  if (!is_alignment(symbol.value))
    throw elf_error{place, "a symbol has no alignment that is a power of two up to 1 MiB"};
}

/// Whether `section` is of the memory that the variable states. In whole programs, sections of
/// constants and of initialized variables have the type of code.
bool is_in_memory(elf_symbol const& variable, elf_section const& section)
{
  auto const type = section.type;
  switch (variable.other & k_memories) {
    case k_in_global:
      return type == k_global || type == k_initialized || type == SHT_NOBITS ||
             type == SHT_PROGBITS;
    case k_in_shared:
      return type == k_shared || type == SHT_NOBITS;
    case k_in_constant:
      return (type >= k_constant && type < k_constant + 64) || type == SHT_PROGBITS;
    case k_in_reserved:
      return type == k_reserved;
    default:
      return true;  // read_interface() refuses what it shows
  }
}

bool is_zero(elf_section const& section)
{
  return section.name == 0 && section.type == 0 && section.flags == 0 && section.offset == 0 &&
         section.size == 0 && section.link == 0 && section.info == 0 && section.alignment == 0 &&
         section.entry_size == 0;
}

}  // namespace

bool is_code(elf_section const& section)
{
  return section.type == SHT_PROGBITS && (section.flags & SHF_EXECINSTR) != 0;
}

std::uint32_t function_of(elf_section const& section)
{
  return section.info & 0xFFFFFFU;
}

cubin_file::cubin_file(bytes_view bytes)
    : elf_(open(bytes)),
      sections_(list_sections(elf_)),
      symbol_section_(find_symbols(sections_)),
      symbols_(elf_, sections_[symbol_section_])
{
  check_header(bytes);
  check_sections();
  check_flags();
  check_symbols();
  check_code();
  check_tables(*this);
}

bytes_view cubin_file::content(elf_section const& section) const
{
  return has_bytes(section) ? elf_.view(section) : bytes_view{};
}

std::string_view cubin_file::names_from(std::uint32_t offset, std::uint64_t place) const
{
  auto const names = symbols_.names();
  if (offset >= names.size()) throw elf_error{place, "a name is outside the table of names"};
  return {reinterpret_cast<char const*>(names.data()) + offset, names.size() - offset};
}

void cubin_file::check_header(bytes_view bytes) const
{
  byte_reader const reader(bytes);
  if (reader.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_ehsize)) != sizeof(Elf64_Ehdr))
    throw elf_error{offsetof(Elf64_Ehdr, e_ehsize), "an ELF header of unknown size"};
  if (auto const type = elf_.type(); type != ET_REL && type != ET_EXEC)
    throw elf_error{offsetof(Elf64_Ehdr, e_type), "it is neither relocatable nor executable"};
  auto const table = elf_.segment_table();
  for (auto const& segment : read_segments(reader.view(table.offset, table.size)))
    (void)reader.view(segment.offset, segment.size);
}

// With k_abi the upper 8 bits of e_flags are the section of the note .note.nv.cuinfo, 0xFF where 8
// bits are too few, bit 0 is never set, and bit 1 with Mercury code; before, the upper 8 bits are
// 0.
void cubin_file::check_flags() const
{
  constexpr auto k_offset = offsetof(Elf64_Ehdr, e_flags);
  auto const note = elf_.flags() >> 24U;
  if (elf_.os_abi() == k_abi_of_cuda_12 && note != 0)
    throw elf_error{k_offset, "flags that are not known"};
  if (elf_.os_abi() != k_abi) return;
  auto const has_mercury =
      std::any_of(sections_.begin(), sections_.end(),
                  [](elf_section const& section) { return (section.flags & k_is_mercury) != 0; });
  if ((elf_.flags() & 1U) != 0 || ((elf_.flags() & 2U) != 0) != has_mercury)
    throw elf_error{k_offset, "flags that are not known"};
  if (note == 0xFF && sections_.size() > 0xFF) return;
  if (note >= sections_.size() || sections_[note].type != SHT_NOTE ||
      !elf_.name_starts_with(sections_[note], ".note.nv.cu"))
    throw elf_error{k_offset, "flags that do not name the section .note.nv.cuinfo"};
}

void cubin_file::check_sections() const
{
  auto const names = elf_.section(elf_.section_of_names());
  check_names(content(names), names.offset);
  auto place = elf_.section_table().offset;
  if (!is_zero(sections_.front())) throw elf_error{place, "the first section is not empty"};
  for (auto const& section : sections_) {
    if (section.name >= names.size)
      throw elf_error{place, "a section's name is outside the table of names"};
    if (!is_whole(content(names), section.name))
      throw elf_error{place, "a section's name begins inside another name"};
    if (&section != &sections_.front()) check_section(section, place);
    place += sizeof(Elf64_Shdr);
  }
  check_distinct_names();
  check_overlap();
}

void cubin_file::check_section(elf_section const& section, std::uint64_t place) const
{
  (void)content(section);
  check_type(section, place);
  if (section.link >= sections_.size())
    throw elf_error{place, "a section refers to one that is not there"};
  if (!is_alignment(section.alignment))
    throw elf_error{place, "a section has no alignment that is a power of two up to 1 MiB"};
  auto const has_other_info = is_code(section) || section.type == SHT_SYMTAB ||
                              section.type == k_mercury_code || section.type == k_mercury_symbols;
  if ((section.flags & SHF_INFO_LINK) != 0 && section.info >= sections_.size())
    throw elf_error{place, "a section belongs to one that is not there"};
  if ((section.flags & SHF_INFO_LINK) == 0 && section.info != 0 && !has_other_info)
    throw elf_error{place, "a section belongs to another without a flag that says so"};
  check_owner(section, place);
}

void cubin_file::check_type(elf_section const& section, std::uint64_t place) const
{
  constexpr char const* k_cause = "a section whose name and type do not belong together";
  auto const has_name = [&](char const* name) { return elf_.name_starts_with(section, name); };
  if (section.type == SHT_NULL) throw elf_error{place, "a section without type"};
  for (auto const& known : k_named_types)
    if (section.type != known.type && has_name(known.name)) throw elf_error{place, k_cause};
  auto const is_initialized = section.type == k_initialized || section.type == SHT_PROGBITS;
  if (has_name(".nv.global.init") && !is_initialized) throw elf_error{place, k_cause};
  auto const is_mercury = has_name(".nv.merc") || has_name(".nv.capmerc");
  if (is_mercury != ((section.flags & k_is_mercury) != 0))
    throw elf_error{place, "a section whose name and flags do not belong together"};
}

/// The name of a section that belongs to another ends with the name of that one: .nv.info.f belongs
/// to .text.f, .rela.debug_frame to .debug_frame.
void cubin_file::check_owner(elf_section const& section, std::uint64_t place) const
{
  if ((section.flags & SHF_INFO_LINK) == 0 || section.type == SHT_NOTE) return;
  auto const name = elf_.name(sections_[section.info]);
  std::string_view end = name;
  for (auto const* beginning : {".nv.capmerc", ".nv.merc", ".text"})
    if (end.starts_with(beginning)) end.remove_prefix(std::string_view(beginning).size());
  if (!elf_.name(section).ends_with(end))
    throw elf_error{place, "a section belongs to one of another name"};
}

void cubin_file::check_distinct_names() const
{
  std::vector<std::uint32_t> names;
  for (auto const& section : sections_) names.push_back(section.name);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    throw elf_error{elf_.section_table().offset, "two sections have one name"};
}

/// A section of Mercury code may have the bytes of one other.
void cubin_file::check_overlap() const
{
  struct place {
    elf_table bytes;
    bool is_mercury = false;
  };
  std::vector<place> places{{{.offset = 0, .size = sizeof(Elf64_Ehdr)}}, {elf_.section_table()}};
  for (auto const& section : sections_)
    if (has_bytes(section) && section.size != 0)
      places.push_back({{section.offset, section.size}, (section.flags & k_is_mercury) != 0});
  std::sort(places.begin(), places.end(),
            [](place const& a, place const& b) { return a.bytes.offset < b.bytes.offset; });
  for (std::size_t i = 1; i < places.size(); ++i) {
    auto const& [bytes, is_mercury] = places[i];
    auto const& before = places[i - 1];
    auto const is_shared = before.bytes.offset == bytes.offset && before.bytes.size == bytes.size &&
                           before.is_mercury != is_mercury;
    if (!is_shared && bytes.offset - before.bytes.offset < before.bytes.size)
      throw elf_error{bytes.offset, "two sections have the same bytes"};
  }
}

bool cubin_file::has_function(elf_section const& section) const
{
  auto const index = function_of(section);
  if (index >= symbols_.count()) return false;
  auto const symbol = symbols_[index];
  return symbol.type == STT_FUNC && symbol.section == &section - sections_.data();
}

void cubin_file::check_symbols() const
{
  check_names(symbols_.names(), sections_[symbol_section_].offset);
  for (std::uint64_t index = 0; index < symbols_.count(); ++index) {
    auto const symbol = symbols_[index];
    auto const place = symbols_.offset_of(index);
    (void)names_from(symbol.name, place);
    if (!is_whole(symbols_.names(), symbol.name))
      throw elf_error{place, "a symbol's name begins inside another name"};
    check_symbol(symbol, place);
  }
}

/// Code and functions name each other. Whole programs have other symbols in code, too.
void cubin_file::check_code() const
{
  auto place = elf_.section_table().offset;
  for (auto const& section : sections_) {
    if (is_code(section) && !has_function(section))
      throw elf_error{place, "a section of code does not name its function"};
    place += sizeof(Elf64_Shdr);
  }
  if (elf_.type() != ET_REL) return;
  for (std::uint64_t index = 0; index < symbols_.count(); ++index) {
    auto const symbol = symbols_[index];
    if (symbol.type != STT_FUNC || symbol.section == SHN_UNDEF) continue;
    auto const& code = sections_[symbol.section];
    if (!is_code(code) || function_of(code) != index)
      throw elf_error{symbols_.offset_of(index), "a function in a section that is not its code"};
  }
}

void cubin_file::check_symbol(elf_symbol const& symbol, std::uint64_t place) const
{
  auto const is_function = symbol.type == STT_FUNC;
  switch (symbol.section) {
    case SHN_UNDEF:
      if (symbol.value != 0 && symbol.value != k_unknown_value) check_alignment(symbol, place);
      return;
    case SHN_ABS:
      if (is_function || symbol.type == k_variable)
        throw elf_error{place, "a function or variable outside of all sections"};
      return;
    case SHN_COMMON:
      if (is_function) throw elf_error{place, "a function or variable outside of all sections"};
      return check_alignment(symbol, place);
    default:
      return check_definition(symbol, place);
  }
}

void cubin_file::check_definition(elf_symbol const& symbol, std::uint64_t place) const
{
  if (symbol.section >= sections_.size())
    throw elf_error{place, "a symbol is in a section that is not there"};
  auto const& section = sections_[symbol.section];
  auto const is_variable = symbol.type == k_variable;
  if (is_variable && !is_in_memory(symbol, section))
    throw elf_error{place, "a variable in a section of another memory"};
  auto const has_alignment =
      is_variable && ((symbol.other & k_in_shared) != 0 || section.type == k_reserved);
  if (has_alignment && symbol.value != 0) check_alignment(symbol, place);
  auto const offset = has_alignment ? 0 : symbol.value;
  if (offset > section.size || symbol.size > section.size - offset)
    throw elf_error{place, "a symbol reaches past the end of its section"};
}

}  // namespace fatlink::detail
