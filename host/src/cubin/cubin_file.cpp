// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin_file.hpp"

#include <elf.h>

#include <cstddef>

#include "cubin/check_sections.hpp"
#include "cubin/check_symbols.hpp"
#include "cubin/check_tables.hpp"

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

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

}  // namespace

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
  check_sections(*this);
  check_symbols(*this);
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

}  // namespace fatlink::detail
