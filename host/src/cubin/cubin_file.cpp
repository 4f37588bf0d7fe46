// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin_file.hpp"

#include <elf.h>

#include <cstddef>

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

/// Requires entries of `size` bytes.
void check_table(elf_section const& section, std::uint64_t size, char const* cause)
{
  if (section.entry_size != size || section.size % size != 0)
    throw elf_error{section.offset, cause};
}

}  // namespace

cubin_file::cubin_file(bytes_view bytes)
    : elf_(open(bytes)),
      sections_(list_sections(elf_)),
      symbol_section_(find_symbols(sections_)),
      symbols_(elf_, sections_[symbol_section_])
{
  check_header(bytes);
  check_sections();
  check_symbols();
  for (auto const& section : sections_) {
    if (section.type == SHT_REL || section.type == SHT_RELA) check_relocations(section);
    if (section.type == k_callgraph) check_callgraph(section);
  }
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

void cubin_file::check_sections() const
{
  auto const names = elf_.section(elf_.section_of_names());
  check_names(content(names), names.offset);
  auto place = elf_.section_table().offset;
  for (auto const& section : sections_) {
    (void)content(section);
    if (section.name >= names.size)
      throw elf_error{place, "a section's name is outside the table of names"};
    if (section.link >= sections_.size())
      throw elf_error{place, "a section refers to one that is not there"};
    if ((section.flags & SHF_INFO_LINK) != 0 && section.info >= sections_.size())
      throw elf_error{place, "a section belongs to one that is not there"};
    place += sizeof(Elf64_Shdr);
  }
}

void cubin_file::check_symbols() const
{
  check_names(symbols_.names(), sections_[symbol_section_].offset);
  for (std::uint64_t index = 0; index < symbols_.count(); ++index) {
    auto const symbol = symbols_[index];
    auto const place = symbols_.offset_of(index);
    (void)names_from(symbol.name, place);
    if (symbol.section == SHN_ABS || symbol.section == SHN_COMMON) continue;
    if (symbol.section >= sections_.size())
      throw elf_error{place, "a symbol is in a section that is not there"};
    if (symbol.section == SHN_UNDEF) continue;
    auto const size = sections_[symbol.section].size;
    auto const is_shared = symbol.type == k_variable && (symbol.other & k_in_shared) != 0;
    auto const offset = is_shared ? 0 : symbol.value;  // of a shared variable it is the alignment
    if (offset > size || symbol.size > size - offset)
      throw elf_error{place, "a symbol reaches past the end of its section"};
  }
}

// Elf64_Rel: u64 offset, u64 info, whose upper half is the symbol; Elf64_Rela: also i64 addend.
void cubin_file::check_relocations(elf_section const& section) const
{
  auto const size = section.type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
  check_table(section, size, "relocations of unknown size");
  if (section.link != symbol_section_ || section.info >= sections_.size())
    throw elf_error{section.offset, "relocations without symbols or section"};
  byte_reader const table(content(section));
  for (std::uint64_t offset = 0; offset < table.size(); offset += size) {
    if (table.read<std::uint64_t>(offset) >= sections_[section.info].size)
      throw elf_error{section.offset + offset, "a relocation past the end of its section"};
    if (ELF64_R_SYM(table.read<std::uint64_t>(offset + offsetof(Elf64_Rel, r_info))) >=
        symbols_.count())
      throw elf_error{section.offset + offset, "a relocation names a symbol that is not there"};
  }
}

// u32 symbol of the caller, u32 symbol of the callee or one of the marks -1 to -4.
void cubin_file::check_callgraph(elf_section const& section) const
{
  constexpr std::uint32_t k_least_mark = 0xFFFFFFFC;
  check_table(section, 2 * sizeof(std::uint32_t), "a call graph of unknown size");
  byte_reader const table(content(section));
  for (std::uint64_t offset = 0; offset < table.size(); offset += 8) {
    auto const callee = table.read<std::uint32_t>(offset + 4);
    if (table.read<std::uint32_t>(offset) >= symbols_.count() ||
        (callee >= symbols_.count() && callee < k_least_mark))
      throw elf_error{section.offset + offset, "a call names a symbol that is not there"};
  }
}

}  // namespace fatlink::detail
