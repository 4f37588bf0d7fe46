// SPDX-License-Identifier: Apache-2.0
// Damage of a cubin's structure on which nvJitLink crashes or hangs.
#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "corrupt_cubin.hpp"
#include "cubin/cubin.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;

TEST(CubinStructure, RefusesFlagsThatNvjitlinkCrashesOn)
{
  auto const flags = elf_reader(types()).flags();
  auto const expect_unknown = [](std::uint32_t value, std::string const& says) {
    expect_corrupt_with(offsetof(Elf64_Ehdr, e_flags), value, says);
  };
  for (auto const bit : {24U, 25U, 26U, 27U, 31U})
    expect_unknown(flags ^ (1U << bit), "flags that do not name the section .note.nv.cuinfo");
  expect_unknown(flags | 0xFF000000U, "flags that do not name the section .note.nv.cuinfo");
  expect_unknown(flags | 1U, "flags that are not known");
  auto bytes = fixtures::bytes("toolkits/cuda_12.9.cubin");
  put(bytes, offsetof(Elf64_Ehdr, e_flags), elf_reader(bytes).flags() | 0x01000000U);
  expect_corrupt(bytes, "flags that are not known");
}

TEST(CubinStructure, RefusesAFirstSectionThatIsNotEmpty)
{
  auto const first = elf_reader(types()).section_table().offset;
  for (auto const field :
       {offsetof(Elf64_Shdr, sh_name), offsetof(Elf64_Shdr, sh_type),
        offsetof(Elf64_Shdr, sh_flags), offsetof(Elf64_Shdr, sh_offset),
        offsetof(Elf64_Shdr, sh_size), offsetof(Elf64_Shdr, sh_link), offsetof(Elf64_Shdr, sh_info),
        offsetof(Elf64_Shdr, sh_addralign), offsetof(Elf64_Shdr, sh_entsize)})
    expect_corrupt_with(first + field, std::uint32_t{1}, "the first section is not empty");
}

TEST(CubinStructure, RefusesSectionsWithoutAPlausibleAlignment)
{
  auto const good = types();
  for (auto const* name : {".debug_frame", ".note.nv.tkinfo", ".text.kernel", ".nv.global"})
    for (auto const value : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 21,
                             std::uint64_t{1} << 31, std::uint64_t{1} << 63})
      expect_corrupt_with(header(good, name, offsetof(Elf64_Shdr, sh_addralign)), value,
                          "a section has no alignment that is a power of two up to 1 MiB");
}

TEST(CubinStructure, IsReadAsOtherToolsThanPtxasWriteIt)
{
  auto const expect_read = [](byte_buffer bytes, std::size_t offset, auto value) {
    put(bytes, offset, value);
    EXPECT_NO_THROW((void)read_cubin(bytes, "x")) << offset;
  };
  auto const good = types();
  for (auto const* name : {".strtab", ".shstrtab"})
    expect_read(good, header(good, name, offsetof(Elf64_Shdr, sh_addralign)), std::uint64_t{0});
  for (auto const* name : {".nv.info.kernel", ".rela.text.kernel", ".nv.constant0.kernel"}) {
    auto const flags = elf_reader(good).section(section(good, name)).flags;
    expect_read(good, header(good, name, offsetof(Elf64_Shdr, sh_flags)), flags & ~SHF_INFO_LINK);
  }
}

TEST(CubinStructure, MayShareNamesWithMercuryCode)
{
  auto bytes = cubin_of("types_sass.fatbin", "sm_100f");
  auto const mercury = elf_reader(bytes).section(section(bytes, ".nv.merc.debug_frame")).name;
  auto const name = header(bytes, ".debug_frame", offsetof(Elf64_Shdr, sh_name));
  auto const length = static_cast<std::uint32_t>(std::string_view(".nv.merc").size());
  put(bytes, name, mercury + length);
  EXPECT_NO_THROW((void)read_cubin(bytes, "x"));
  put(bytes, name, mercury + length + 1);
  expect_corrupt(bytes, "a section's name begins inside another name");
}

TEST(CubinStructure, RefusesSectionsOfAnotherTypeThanTheirNameStates)
{
  auto const good = types();
  for (auto const* name : {".note.nv.tkinfo", ".nv.callgraph", ".nv.prototype", ".rela.text.kernel",
                           ".nv.info.kernel"})
    expect_corrupt_with(header(good, name, offsetof(Elf64_Shdr, sh_type)),
                        std::uint32_t{0x70000040},
                        "a section whose name and type do not belong together");
  expect_corrupt_with(header(good, ".nv.global.init", offsetof(Elf64_Shdr, sh_type)),
                      std::uint32_t{0x70000009},
                      "a section whose name and type do not belong together");
  expect_corrupt_with(header(good, ".debug_frame", offsetof(Elf64_Shdr, sh_type)), std::uint32_t{0},
                      "a section without type");
  expect_corrupt_with(header(good, ".debug_frame", offsetof(Elf64_Shdr, sh_flags)),
                      std::uint32_t{0x10000000},
                      "a section whose name and flags do not belong together");
  auto const name = elf_reader(good).section(section(good, ".debug_frame")).name;
  expect_corrupt_with(header(good, ".debug_frame", offsetof(Elf64_Shdr, sh_name)), name + 1,
                      "a section's name begins inside another name");
}

TEST(CubinStructure, RefusesSectionsThatBelongToNoneOfTheirName)
{
  auto const good = types();
  auto const at = [&](char const* name) {
    return header(good, name, offsetof(Elf64_Shdr, sh_info));
  };
  for (auto const* name : {".nv.global", ".nv.constant3", ".debug_frame"})
    for (auto const& [value, says] : {std::pair{1U, "a section belongs to one of another name"},
                                      std::pair{~0U, "a section belongs to one that is not there"}})
      expect_corrupt_with(at(name), value, says);
  auto const code = elf_reader(good).section(section(good, ".text.kernel")).info;
  for (auto const value : {code ^ 1U, code ^ (1U << 20), ~0U})
    expect_corrupt_with(at(".text.kernel"), value, "a section of code does not name its function");
}

TEST(CubinStructure, RefusesSectionsThatShareBytes)
{
  auto const good = types();
  auto const size = elf_reader(good).section(section(good, ".nv.info")).size;
  expect_corrupt_with(header(good, ".nv.info", offsetof(Elf64_Shdr, sh_size)), size + 4,
                      "two sections have the same bytes");
  expect_corrupt_with(header(good, ".nv.callgraph", offsetof(Elf64_Shdr, sh_offset)),
                      std::uint64_t{offset_of(good, ".nv.prototype")},
                      "two sections have the same bytes");
}

TEST(CubinStructure, TakesCallsByPrototypeAndFunctionsWithoutOne)
{
  auto bytes = types();
  auto const calls = offset_of(bytes, ".nv.callgraph");
  auto const prototype = find(bytes, ".strtab", "#") - offset_of(bytes, ".strtab");
  for (auto const callee : {static_cast<std::uint32_t>(prototype), 0U}) {
    put(bytes, calls, index_of(bytes, "kernel"));
    put(bytes, calls + 4, callee);
    EXPECT_NO_THROW(read_cubin(bytes, "x"));
  }
}

TEST(CubinStructure, RefusesFunctionsWithoutAttributes)
{
  auto const good = types();
  auto const registers = find(good, ".nv.info", std::string("\x04\x2f\x08\0", 4));
  for (auto const symbol : {~0U, index_of(good, "counter"), 0U})
    expect_corrupt_with(registers + 4, symbol, "an attribute of a function that is not there");
  expect_corrupt_with(registers + 1, std::uint8_t{0x11}, "an attribute that a function has twice");
}

TEST(CubinStructure, OfNvasmMayLeaveOutWhatPtxasStates)
{
  auto bytes = types();
  put(bytes, find(bytes, ".nv.info", std::string("\x04\x2f\x08\0", 4)) + 1, std::uint8_t{0x7f});
  expect_corrupt(bytes, "a function whose registers or stack are not stated");
  std::string const tool = "nvasm_internal";
  std::memcpy(bytes.data() + find(bytes, ".note.nv.tkinfo", "Cuda compilation tools"), tool.data(),
              tool.size());
  EXPECT_NO_THROW((void)read_cubin(bytes, "x"));
}

TEST(CubinStructure, RefusesMercurySectionsThatContradictTheFile)
{
  auto const good = cubin_of("types_sass.fatbin", "sm_100f");
  auto const expect = [&](std::size_t offset, auto value, std::string const& says) {
    auto bytes = good;
    put(bytes, offset, value);
    expect_corrupt(bytes, says);
  };
  for (auto const* name : {".nv.capmerc.text.kernel", ".nv.merc.nv.info",
                           ".nv.merc.rela.text.kernel", ".nv.merc.symtab"})
    expect(header(good, name, offsetof(Elf64_Shdr, sh_type)), std::uint32_t{0x70000040},
           "a section whose name and type do not belong together");
  for (auto const* name : {".nv.merc.rela.text.kernel", ".nv.merc.symtab"})
    expect(header(good, name, offsetof(Elf64_Shdr, sh_entsize)), std::uint64_t{23},
           "a table of Mercury code of unknown size");
  auto const info = elf_reader(good).section(section(good, ".nv.merc.nv.info"));
  expect(header(good, ".nv.merc.nv.info", offsetof(Elf64_Shdr, sh_size)), info.size - 2,
         "an attribute past the end of its section");
  expect(header(good, ".nv.merc.nv.info", offsetof(Elf64_Shdr, sh_size)), info.size + 400,
         "two sections have the same bytes");
  expect(header(good, ".nv.merc.nv.info", offsetof(Elf64_Shdr, sh_info)), std::uint32_t{0x10000},
         "a section belongs to one that is not there");
  expect(offsetof(Elf64_Ehdr, e_flags), elf_reader(good).flags() ^ 2U, "flags that are not known");
}

TEST(CubinStructure, RefusesSectionsThatBelongToOneOfAnotherName)
{
  auto const good = types();
  for (auto const* name : {".rela.text.kernel", ".nv.info.kernel", ".nv.constant0.kernel"})
    expect_corrupt_with(header(good, name, offsetof(Elf64_Shdr, sh_info)),
                        section(good, ".text.fixed_block"),
                        "a section belongs to one of another name");
  auto const name = elf_reader(good).section(section(good, ".debug_frame")).name;
  expect_corrupt_with(header(good, ".nv.global", offsetof(Elf64_Shdr, sh_name)), name,
                      "a section whose name and type do not belong together");
  auto const constants = elf_reader(good).section(section(good, ".nv.constant3")).name;
  expect_corrupt_with(header(good, ".nv.global", offsetof(Elf64_Shdr, sh_name)), constants,
                      "two sections have one name");
}

TEST(CubinStructure, RefusesAttributesInASectionOfAnotherName)
{
  expect_corrupt_with(header(types(), ".nv.constant0.kernel", offsetof(Elf64_Shdr, sh_type)),
                      std::uint32_t{0x70000000}, "attributes of a function that is not there");
}

TEST(CubinStructure, RefusesAttributesOfOneFunctionInTwoSections)
{
  auto bytes = types();
  auto names = content_of(bytes, ".shstrtab");
  auto const name = static_cast<std::uint32_t>(names.size());
  for (auto const letter : std::string(".nv.info.kernel") + '\0')
    names.push_back(static_cast<std::byte>(letter));
  auto const other = header(bytes, ".nv.info.fixed_block", 0);
  bytes = with_content(bytes, ".shstrtab", names);
  put(bytes, other + offsetof(Elf64_Shdr, sh_name), name);
  put(bytes, other + offsetof(Elf64_Shdr, sh_info), section(bytes, ".text.kernel"));
  expect_corrupt(bytes, "a function has attributes twice");
}

TEST(CubinStructure, TakesAbsoluteSymbolsThatAreNeitherFunctionsNorVariables)
{
  auto bytes = types();
  put(bytes, symbol(bytes, "__UDT", offsetof(Elf64_Sym, st_shndx)), std::uint16_t{SHN_ABS});
  EXPECT_NO_THROW(read_cubin(bytes, "x"));
}
