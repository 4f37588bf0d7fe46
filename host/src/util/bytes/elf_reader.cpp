// SPDX-License-Identifier: Apache-2.0
#include "util/bytes/elf_reader.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>

#include "util/bytes/sha256.hpp"

namespace fatlink::detail {

elf_reader::elf_reader(bytes_view bytes) : bytes_(bytes)
{
  if (bytes_.text(0, SELFMAG) != std::string(ELFMAG, SELFMAG) ||
      bytes_.read<std::uint8_t>(EI_CLASS) != ELFCLASS64)
    throw elf_error{0, "is not a 64-bit ELF file"};
  if (bytes_.read<std::uint8_t>(EI_DATA) != ELFDATA2LSB)
    throw elf_error{EI_DATA, "is not a little-endian ELF file"};
  type_ = bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_type));
  machine_ = bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine));
}

std::uint8_t elf_reader::os_abi() const
{
  return bytes_.read<std::uint8_t>(EI_OSABI);
}

std::uint32_t elf_reader::version() const
{
  return bytes_.read<std::uint32_t>(offsetof(Elf64_Ehdr, e_version));
}

std::uint32_t elf_reader::flags() const
{
  return bytes_.read<std::uint32_t>(offsetof(Elf64_Ehdr, e_flags));
}

elf_table elf_reader::segment_table() const
{
  auto const count = bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phnum));
  auto const size = bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_phentsize));
  if (count != 0 && size != sizeof(Elf64_Phdr))
    throw elf_error{offsetof(Elf64_Ehdr, e_phentsize), "program headers of unknown size"};
  return {.offset = bytes_.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff)),
          .size = count * sizeof(Elf64_Phdr)};
}

elf_table elf_reader::section_table() const
{
  return {.offset = bytes_.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff)),
          .size = section_count() * sizeof(Elf64_Shdr)};
}

std::uint16_t elf_reader::section_count() const
{
  return bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum));
}

std::uint16_t elf_reader::section_of_names() const
{
  return bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx));
}

elf_section elf_reader::section(std::uint32_t index) const
{
  auto const table = section_table();
  if (index >= section_count()) throw elf_error{table.offset, "names a section that is not there"};
  if (bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr))
    throw elf_error{offsetof(Elf64_Ehdr, e_shentsize), "section headers of unknown size"};
  byte_reader const header(byte_reader(bytes_.view(table.offset, table.size))
                               .view(index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr)));
  return {.name = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_name)),
          .type = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_type)),
          .flags = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_flags)),
          .offset = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_offset)),
          .size = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_size)),
          .link = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_link)),
          .info = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_info)),
          .alignment = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_addralign)),
          .entry_size = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_entsize))};
}

bytes_view elf_reader::view(elf_section const& section) const
{
  return bytes_.view(section.offset, section.size);
}

std::string_view elf_reader::names_from(elf_section const& section) const
{
  auto const strings = this->section(section_of_names()).offset;
  if (strings > bytes_.size() || section.name >= bytes_.size() - strings) return {};
  auto const names = bytes_.view(strings + section.name, bytes_.size() - strings - section.name);
  return {reinterpret_cast<char const*>(names.data()), names.size()};
}

std::string elf_reader::name(elf_section const& section) const
{
  auto const names = names_from(section);
  return std::string(names.substr(0, names.find('\0')));
}

bool elf_reader::has_name(elf_section const& section, std::string_view name) const
{
  auto const names = names_from(section);
  return names.starts_with(name) && names.size() > name.size() && names[name.size()] == '\0';
}

bool elf_reader::name_starts_with(elf_section const& section, std::string_view beginning) const
{
  return names_from(section).starts_with(beginning);
}

elf_symbols::elf_symbols(elf_reader const& elf, elf_section const& table)
    : table_(elf.view(table)), names_(elf.view(elf.section(table.link))), offset_(table.offset)
{
  static_assert(k_size == sizeof(Elf64_Sym));
  if (table.entry_size != k_size || table.size % k_size != 0)
    throw elf_error{table.offset, "symbols of unknown size"};
}

elf_symbol elf_symbols::operator[](std::uint64_t index) const
{
  byte_reader const symbol(table_.view(index * k_size, k_size));
  auto const info = symbol.read<std::uint8_t>(offsetof(Elf64_Sym, st_info));
  return {.name = symbol.read<std::uint32_t>(offsetof(Elf64_Sym, st_name)),
          .type = static_cast<std::uint8_t>(ELF64_ST_TYPE(info)),
          .binding = static_cast<std::uint8_t>(ELF64_ST_BIND(info)),
          .other = symbol.read<std::uint8_t>(offsetof(Elf64_Sym, st_other)),
          .section = symbol.read<std::uint16_t>(offsetof(Elf64_Sym, st_shndx)),
          .value = symbol.read<std::uint64_t>(offsetof(Elf64_Sym, st_value)),
          .size = symbol.read<std::uint64_t>(offsetof(Elf64_Sym, st_size))};
}

std::string elf_symbols::name(std::uint64_t index) const
{
  auto const offset = (*this)[index].name;
  if (offset >= names_.size())
    throw elf_error{offset_of(index), "a symbol's name is outside the string table"};
  return text_at(names_, offset);
}

std::vector<elf_segment> read_segments(bytes_view table)
{
  byte_reader const headers(table);
  std::vector<elf_segment> segments;
  for (std::uint64_t offset = 0; offset + sizeof(Elf64_Phdr) <= table.size();
       offset += sizeof(Elf64_Phdr))
    segments.push_back(
        {.type = headers.read<std::uint32_t>(offset + offsetof(Elf64_Phdr, p_type)),
         .offset = headers.read<std::uint64_t>(offset + offsetof(Elf64_Phdr, p_offset)),
         .address = headers.read<std::uint64_t>(offset + offsetof(Elf64_Phdr, p_vaddr)),
         .size = headers.read<std::uint64_t>(offset + offsetof(Elf64_Phdr, p_filesz))});
  return segments;
}

std::string text_at(bytes_view strings, std::uint64_t offset)
{
  if (offset >= strings.size()) return {};
  auto const* const text = reinterpret_cast<char const*>(strings.data());
  auto const* const begin = text + offset;
  auto const* const end = text + strings.size();
  return {begin, std::find(begin, end, '\0')};
}

// A note: u32 name size, u32 description size, u32 type; name and description, each padded to 4.
std::string build_id_in(bytes_view notes)
{
  auto const padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  byte_reader const note(notes);
  for (std::uint64_t offset = 0; offset + sizeof(Elf64_Nhdr) <= notes.size();) {
    auto const name_size = note.read<std::uint32_t>(offset);
    auto const size = note.read<std::uint32_t>(offset + 4);
    auto const name = offset + sizeof(Elf64_Nhdr);
    auto const description = name + padded(name_size);
    if (note.read<std::uint32_t>(offset + 8) == NT_GNU_BUILD_ID &&
        note.text(name, name_size) == std::string(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU))
      return to_hexadecimal(note.view(description, size));
    offset = description + padded(size);
  }
  return {};
}

}  // namespace fatlink::detail
