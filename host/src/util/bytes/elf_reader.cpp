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

std::uint8_t elf_reader::abi_version() const
{
  return bytes_.read<std::uint8_t>(EI_OSABI);
}

std::uint32_t elf_reader::flags() const
{
  return bytes_.read<std::uint32_t>(offsetof(Elf64_Ehdr, e_flags));
}

std::uint16_t elf_reader::section_count() const
{
  return bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum));
}

elf_section elf_reader::section(std::uint32_t index) const
{
  auto const count = section_count();
  auto const table = bytes_.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
  if (index >= count) throw elf_error{table, "names a section that is not there"};
  if (bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr))
    throw elf_error{offsetof(Elf64_Ehdr, e_shentsize), "section headers of unknown size"};
  byte_reader const header(byte_reader(bytes_.view(table, count * sizeof(Elf64_Shdr)))
                               .view(index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr)));
  return {.name = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_name)),
          .type = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_type)),
          .offset = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_offset)),
          .size = header.read<std::uint64_t>(offsetof(Elf64_Shdr, sh_size)),
          .link = header.read<std::uint32_t>(offsetof(Elf64_Shdr, sh_link))};
}

bytes_view elf_reader::view(elf_section const& section) const
{
  return bytes_.view(section.offset, section.size);
}

std::string_view elf_reader::names_from(elf_section const& section) const
{
  auto const index = bytes_.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx));
  auto const strings = this->section(index).offset;
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
