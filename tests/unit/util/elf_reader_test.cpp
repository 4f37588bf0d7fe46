// SPDX-License-Identifier: Apache-2.0
// Reading ELF files: sections, symbols, and damage.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.hpp"
#include "util/bytes/elf_reader.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

std::vector<std::string> section_names(elf_reader const& elf)
{
  std::vector<std::string> names;
  for (std::uint16_t index = 0; index < elf.section_count(); ++index)
    names.push_back(elf.name(elf.section(index)));
  return names;
}

/// Reads all that the reader can give.
void read_everything(bytes_view bytes)
{
  elf_reader const elf(bytes);
  (void)section_names(elf);
  for (std::uint16_t index = 0; index < elf.section_count(); ++index)
    if (auto const section = elf.section(index); section.type != SHT_NOBITS)
      (void)elf.view(section);
}

byte_buffer note(std::uint32_t type, std::uint32_t name_size, std::uint32_t size)
{
  byte_buffer bytes(sizeof(Elf64_Nhdr) + 4 + 4);
  std::uint32_t const header[] = {name_size, size, type};
  std::memcpy(bytes.data(), header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, "GNU\0\xAB\xCD\xEF\x01", 8);
  return bytes;
}

}  // namespace

TEST(ElfReader, ReadsHeaderAndSectionNamesOfAnObjectAndACubin)
{
  auto const object = fixtures::bytes("forms/object.o");
  EXPECT_EQ(elf_reader(object).machine(), EM_X86_64);
  EXPECT_EQ(elf_reader(object).type(), ET_REL);
  EXPECT_THAT(section_names(elf_reader(object)), testing::Contains(".symtab"));
  auto const cubin = fixtures::bytes("forms/relocatable.cubin");
  EXPECT_EQ(elf_reader(cubin).machine(), k_elf_machine_cuda);
  EXPECT_THAT(section_names(elf_reader(cubin)), testing::Contains(".strtab"));
}

TEST(ElfReader, ComparesSectionNamesWhole)
{
  auto const object = fixtures::bytes("forms/object.o");
  elf_reader const elf(object);
  auto const count = [&](char const* name) {
    int sections = 0;
    for (std::uint16_t index = 0; index < elf.section_count(); ++index)
      sections += elf.has_name(elf.section(index), name) ? 1 : 0;
    return sections;
  };
  EXPECT_EQ(count("__nv_relfatbin"), 1);
  EXPECT_EQ(count("__nv_relfat"), 0);
  EXPECT_EQ(count("__nv_relfatbin2"), 0);
}

TEST(ElfReader, RefusesEveryTruncationWithoutReadingPastTheEnd)
{
  auto const cubin = fixtures::bytes("forms/relocatable.cubin");
  read_everything(cubin);
  for (std::size_t size = 0; size < sizeof(Elf64_Ehdr); ++size) {
    byte_buffer const part(cubin.begin(), cubin.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(read_everything(part), out_of_bytes) << size;
  }
}

TEST(ElfReader, RefusesOtherFormatsAndSectionsThatAreNotThere)
{
  auto bytes = fixtures::bytes("forms/object.o");
  EXPECT_THROW((void)elf_reader(bytes).section(0xFFFF), elf_error);
  bytes[EI_CLASS] = std::byte{ELFCLASS32};
  EXPECT_THROW(elf_reader{bytes}, elf_error);
  bytes[EI_CLASS] = std::byte{ELFCLASS64};
  bytes[EI_DATA] = std::byte{ELFDATA2MSB};
  EXPECT_THROW(elf_reader{bytes}, elf_error);
}

TEST(ElfReader, ReadsSymbolsWithTheirNames)
{
  auto const bytes = fixtures::bytes("forms/relocatable.cubin");
  elf_reader const elf(bytes);
  std::vector<std::string> functions;
  for (std::uint32_t index = 0; index < elf.section_count(); ++index) {
    if (elf.section(index).type != SHT_SYMTAB) continue;
    elf_symbols const symbols(elf, elf.section(index));
    for (std::uint64_t i = 0; i < symbols.count(); ++i)
      if (symbols[i].type == STT_FUNC) functions.push_back(symbols.name(i));
    EXPECT_THROW((void)symbols[symbols.count()], out_of_bytes);
  }
  EXPECT_THAT(functions, testing::ElementsAre("user_transform"));
}

TEST(ElfReader, RefusesSymbolsOfUnknownSizeAndNamesOutsideTheirTable)
{
  auto bytes = fixtures::bytes("forms/relocatable.cubin");
  elf_reader const elf(bytes);
  elf_section table;
  for (std::uint32_t index = 0; index < elf.section_count(); ++index)
    if (elf.section(index).type == SHT_SYMTAB) table = elf.section(index);
  std::uint32_t const outside = 0xFFFFFFFF;
  std::memcpy(bytes.data() + table.offset, &outside, sizeof outside);
  EXPECT_THROW((void)elf_symbols(elf, table).name(0), elf_error);
  table.entry_size = 16;
  EXPECT_THROW(elf_symbols(elf, table), elf_error);
}

TEST(ElfReader, ReadsSegmentsOfTheSizeThatItKnows)
{
  byte_buffer header(sizeof(Elf64_Ehdr));
  Elf64_Ehdr fields{};
  std::memcpy(fields.e_ident, ELFMAG, SELFMAG);
  fields.e_ident[EI_CLASS] = ELFCLASS64;
  fields.e_ident[EI_DATA] = ELFDATA2LSB;
  fields.e_phoff = 64;
  fields.e_phnum = 2;
  fields.e_phentsize = sizeof(Elf64_Phdr);
  std::memcpy(header.data(), &fields, sizeof fields);
  EXPECT_EQ(elf_reader(header).segment_table().offset, 64U);
  EXPECT_EQ(elf_reader(header).segment_table().size, 2 * sizeof(Elf64_Phdr));
  fields.e_phentsize = 32;
  std::memcpy(header.data(), &fields, sizeof fields);
  EXPECT_THROW((void)elf_reader(header).segment_table(), elf_error);
}

TEST(ElfReader, ComparesTheNamesOfSections)
{
  auto const bytes = fixtures::bytes("forms/relocatable.cubin");
  elf_reader const elf(bytes);
  auto const names = elf.section(elf.section_of_names());
  EXPECT_TRUE(elf.has_name(names, ".shstrtab"));
  EXPECT_FALSE(elf.has_name(names, ".shstr"));
  EXPECT_TRUE(elf.name_starts_with(names, ".shstr"));
  EXPECT_FALSE(elf.has_name({.name = 0xFFFFFFFF}, ".shstrtab"));
}

TEST(ElfReader, ReadsTheBuildIdOfNotes)
{
  EXPECT_EQ(build_id_in(note(NT_GNU_BUILD_ID, 4, 4)), "abcdef01");
  EXPECT_EQ(build_id_in(note(NT_GNU_ABI_TAG, 4, 4)), "");
  EXPECT_THROW((void)build_id_in(note(NT_GNU_BUILD_ID, 4, 5)), out_of_bytes);
  EXPECT_EQ(build_id_in({}), "");
}
