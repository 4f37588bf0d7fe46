// SPDX-License-Identifier: Apache-2.0
// Damaged cubins, cubins above a limit, and cubins on which nvJitLink crashes or hangs: what is
// refused.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "cubin/cubin.hpp"
#include "cubin_bytes.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;
using testing::HasSubstr;

namespace {

void expect_corrupt(byte_buffer const& bytes, std::string const& says)
{
  try {
    read_cubin(bytes, "x.cubin");
    ADD_FAILURE() << "no error; expected: " << says;
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.what(), testing::StartsWith("x.cubin: damaged cubin: "));
    EXPECT_THAT(failed.what(), testing::HasSubstr(says));
    EXPECT_THAT(failed.what(), testing::HasSubstr("at byte " + std::to_string(failed.offset())));
    EXPECT_TRUE(failed.details().code == error_code::corrupt_cubin);
    EXPECT_EQ(failed.where(), stage::input);
    EXPECT_EQ(failed.details().input, "x.cubin");
    EXPECT_EQ(failed.details().hint, "build it again, or copy it again in full");
  }
}

/// Expects an error that says `says` if the `value` stands at `offset` of types().
template <typename Integer>
void expect_corrupt_with(std::size_t offset, Integer value, std::string const& says)
{
  auto bytes = types();
  put(bytes, offset, value);
  expect_corrupt(bytes, says);
}

std::uint32_t index_of(byte_buffer const& cubin, std::string const& name)
{
  auto const offset = symbol(cubin, name, 0) - offset_of(cubin, ".symtab");
  return static_cast<std::uint32_t>(offset / sizeof(Elf64_Sym));
}

/// types() with the variable `name` in no section, with this alignment.
byte_buffer with_common(std::string const& name, std::uint64_t alignment)
{
  auto bytes = types();
  put(bytes, symbol(bytes, name, offsetof(Elf64_Sym, st_shndx)), std::uint16_t{SHN_COMMON});
  put(bytes, symbol(bytes, name, offsetof(Elf64_Sym, st_value)), alignment);
  return bytes;
}

/// The same where the `value` is in a field of the header of the section `name`.
template <typename Integer>
void expect_corrupt_header(char const* name, std::size_t field, Integer value,
                           std::string const& says)
{
  expect_corrupt_with(header(types(), name, field), value, says);
}

/// The same where it is in a field of the symbol `name`.
template <typename Integer>
void expect_corrupt_symbol(char const* name, std::size_t field, Integer value,
                           std::string const& says)
{
  expect_corrupt_with(symbol(types(), name, field), value, says);
}

}  // namespace

TEST(CubinReader, RefusesEveryTruncation)
{
  auto const good = cubin_of("types_sass.fatbin", "sm_80");
  for (std::size_t size = 0; size < good.size(); size += size < 4096 ? 1 : 61)
    EXPECT_THROW(read_cubin(bytes_view(good).first(size), "x"), format_error) << "kept " << size;
  expect_corrupt({}, "truncated: 4 bytes are needed here, there are 0 in all");
}

TEST(CubinReader, RefusesHeadersThatAreNotOfACudaElfFile)
{
  expect_corrupt_with(0, 'x', "is not a 64-bit ELF file");
  expect_corrupt_with(EI_DATA, std::uint8_t{ELFDATA2MSB}, "is not a little-endian ELF file");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_X86_64},
                      "is not a CUDA ELF file");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_ehsize), std::uint16_t{63},
                      "an ELF header of unknown size");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_type), std::uint16_t{ET_DYN},
                      "it is neither relocatable nor executable");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0}, "it has no sections");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_shentsize), std::uint16_t{63},
                      "section headers of unknown size");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{0xFF00},
                      "names a section that is not there");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_phnum), std::uint16_t{1},
                      "program headers of unknown size");
  expect_corrupt_with(EI_OSABI, std::uint8_t{1}, "an ABI that is not known");
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_flags),
                      std::uint32_t{0x06000500} | (elf_reader(types()).flags() & 0xFFU),
                      "an architecture that is not known");
}

TEST(CubinReader, RefusesSegmentsPastTheEnd)
{
  auto bytes = types();
  auto const table = bytes.size();
  bytes.resize(table + sizeof(Elf64_Phdr));
  put(bytes, offsetof(Elf64_Ehdr, e_phoff), std::uint64_t{table});
  put(bytes, offsetof(Elf64_Ehdr, e_phnum), std::uint16_t{1});
  put(bytes, offsetof(Elf64_Ehdr, e_phentsize), std::uint16_t{sizeof(Elf64_Phdr)});
  EXPECT_NO_THROW(read_cubin(bytes, "x"));
  put(bytes, table + offsetof(Elf64_Phdr, p_filesz), std::uint64_t{1} << 40);
  expect_corrupt(bytes, "truncated");
}

TEST(CubinReader, RefusesSectionsThatContradictTheFile)
{
  auto const good = types();
  auto const at = [&](char const* name, std::size_t field) { return header(good, name, field); };
  expect_corrupt_with(at(".text.kernel", offsetof(Elf64_Shdr, sh_size)), std::uint64_t{1} << 62,
                      "truncated");
  expect_corrupt_with(at(".text.kernel", offsetof(Elf64_Shdr, sh_offset)), ~std::uint64_t{0},
                      "truncated");
  expect_corrupt_with(at(".text.kernel", offsetof(Elf64_Shdr, sh_name)), ~std::uint32_t{0},
                      "a section's name is outside the table of names");
  expect_corrupt_with(at(".text.kernel", offsetof(Elf64_Shdr, sh_link)), ~std::uint32_t{0},
                      "a section refers to one that is not there");
  expect_corrupt_with(at(".nv.info.kernel", offsetof(Elf64_Shdr, sh_info)), ~std::uint32_t{0},
                      "a section belongs to one that is not there");
  expect_corrupt_with(at(".symtab", offsetof(Elf64_Shdr, sh_type)), std::uint32_t{SHT_PROGBITS},
                      "it has no symbol table");
  expect_corrupt_with(at(".text.kernel", offsetof(Elf64_Shdr, sh_type)), std::uint32_t{SHT_SYMTAB},
                      "it has a second symbol table");
}

TEST(CubinReader, RefusesSymbolsThatContradictTheFile)
{
  auto const good = types();
  auto const at = [&](char const* name, std::size_t field) { return symbol(good, name, field); };
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_name)), ~std::uint32_t{0},
                      "a name is outside the table of names");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_name)), std::uint32_t{2},
                      "a symbol's name begins inside another name");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_name)), std::uint32_t{0},
                      "a function or variable without a readable name");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_shndx)), std::uint16_t{0xFF00},
                      "a symbol is in a section that is not there");
  for (auto const special : {SHN_ABS, SHN_COMMON})
    expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_shndx)),
                        static_cast<std::uint16_t>(special),
                        "a function or variable outside of all sections");
  expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_shndx)), std::uint16_t{SHN_ABS},
                      "a function or variable outside of all sections");
  for (auto const alignment : {0U, 3U, 1U << 24})
    expect_corrupt(with_common("counter", alignment),
                   "a symbol has no alignment that is a power of two up to 1 MiB");
  EXPECT_NO_THROW(read_cubin(with_common("counter", 16), "x"));
  expect_corrupt_with(at("hook_of_any", offsetof(Elf64_Sym, st_value)), std::uint64_t{1} << 24,
                      "a symbol has no alignment that is a power of two up to 1 MiB");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_size)), ~std::uint64_t{0},
                      "a symbol reaches past the end of its section");
  expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_value)), ~std::uint64_t{0},
                      "a symbol reaches past the end of its section");
  expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_other)), std::uint8_t{0x60},
                      "a variable in an unknown memory");
  for (auto const memory : {0x40, 0x80, 0xA0})
    expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_other)),
                        static_cast<std::uint8_t>(memory),
                        "a variable in a section of another memory");
  for (auto const* other : {".text.kernel", ".nv.constant3"})
    expect_corrupt_with(at("hook_of_any", offsetof(Elf64_Sym, st_shndx)),
                        static_cast<std::uint16_t>(section(good, other)),
                        "a function in a section that is not its code");
  expect_corrupt_with(header(good, ".symtab", offsetof(Elf64_Shdr, sh_entsize)), std::uint64_t{23},
                      "symbols of unknown size");
}

TEST(CubinReader, RefusesNamesThatAreNotTerminatedOrNotReadable)
{
  auto bytes = types();
  auto const strings = elf_reader(bytes).section(section(bytes, ".strtab"));
  put(bytes, strings.offset + strings.size - 1, 'x');
  expect_corrupt(bytes, "a table of names does not end with a NUL");
  expect_corrupt_with(find(types(), ".strtab", "hook_of_any"), '\xFF',
                      "a function or variable without a readable name");
}

TEST(CubinReader, RefusesPrototypesThatContradictTheFile)
{
  auto const good = types();
  auto const table = offset_of(good, ".nv.prototype");
  expect_corrupt_with(header(good, ".nv.prototype", offsetof(Elf64_Shdr, sh_entsize)),
                      std::uint64_t{4}, "prototypes of unknown size or without symbols");
  expect_corrupt_with(header(good, ".nv.prototype", offsetof(Elf64_Shdr, sh_size)),
                      std::uint64_t{7}, "prototypes of unknown size or without symbols");
  expect_corrupt_with(header(good, ".nv.prototype", offsetof(Elf64_Shdr, sh_link)),
                      std::uint32_t{1}, "prototypes of unknown size or without symbols");
  expect_corrupt_with(table, ~std::uint32_t{0}, "a prototype whose symbol is not a function");
  expect_corrupt_with(table, std::uint32_t{0}, "a prototype whose symbol is not a function");
  expect_corrupt_with(table + 4, ~std::uint32_t{0}, "a name is outside the table of names");
  expect_corrupt_with(find(good, ".strtab", "#iili"), 'x',
                      "a function whose prototype is malformed");
  auto twice = good;
  std::memcpy(twice.data() + table + 8, twice.data() + table, 8);
  expect_corrupt(twice, "a function has two prototypes");
}

TEST(CubinReader, RefusesRelocationsAndCallsThatContradictTheFile)
{
  auto const good = types();
  auto const table = offset_of(good, ".rela.text.kernel");
  expect_corrupt_with(header(good, ".rela.text.kernel", offsetof(Elf64_Shdr, sh_entsize)),
                      std::uint64_t{16}, "relocations of unknown size");
  expect_corrupt_with(header(good, ".rela.text.kernel", offsetof(Elf64_Shdr, sh_link)),
                      std::uint32_t{1}, "relocations without symbols or section");
  expect_corrupt_with(table, ~std::uint64_t{0}, "a relocation past the end of its section");
  expect_corrupt_with(table + 12, ~std::uint32_t{0},
                      "a relocation names a symbol that is not there");
  expect_corrupt_with(table + 8, std::uint32_t{0x100}, "a relocation of an unknown type");
  expect_corrupt_with(table + 8, ~std::uint32_t{0}, "a relocation of an unknown type");
  auto const code = elf_reader(good).section(section(good, ".text.kernel"));
  expect_corrupt_with(table, code.size - 8, "a relocation past the end of its section");
  auto to_variable = good;
  put(to_variable, table + 8, std::uint32_t{33});
  put(to_variable, table + 12, index_of(good, "counter"));
  expect_corrupt(to_variable, "a relocation to a function names another symbol");
  auto const calls = offset_of(good, ".nv.callgraph");
  expect_corrupt_with(header(good, ".nv.callgraph", offsetof(Elf64_Shdr, sh_entsize)),
                      std::uint64_t{4}, "a call graph of unknown size");
  for (auto const symbol : {~0U, index_of(good, "counter")})
    expect_corrupt_with(calls, symbol, "a call names a function that is not there");
  for (auto const symbol : {0xFFFFFF00U, 0x10000U})
    expect_corrupt_with(calls + 4, symbol, "a call names a function that is not there");
}

TEST(CubinReader, RefusesAttributesThatContradictTheFile)
{
  auto const good = types();
  auto const attributes = offset_of(good, ".nv.info.kernel");
  expect_corrupt_with(attributes, std::uint8_t{0}, "an attribute of an unknown format");
  expect_corrupt_with(attributes, std::uint8_t{5}, "an attribute of an unknown format");
  expect_corrupt_with(attributes + 2, std::uint16_t{0xFFFF},
                      "an attribute past the end of its section");
  expect_corrupt_with(header(good, ".nv.info.kernel", offsetof(Elf64_Shdr, sh_size)),
                      std::uint64_t{2}, "an attribute past the end of its section");
  expect_corrupt_with(header(good, ".nv.info.kernel", offsetof(Elf64_Shdr, sh_info)),
                      std::uint32_t{0}, "a kernel without attributes");
  expect_corrupt_with(header(good, ".nv.info.kernel", offsetof(Elf64_Shdr, sh_info)),
                      section(good, ".nv.constant0.kernel"),
                      "a section belongs to one of another name");
  auto const parameter = find(good, ".nv.info.kernel", std::string("\x04\x17\x0c\0", 4));
  expect_corrupt_with(parameter + 4, std::uint32_t{1 << 20},
                      "an attribute of an unknown parameter");
  expect_corrupt_with(parameter + 8, std::uint16_t{1}, "a kernel's parameter is described twice");
  expect_corrupt_with(parameter + 8, std::uint16_t{9}, "a kernel's parameters are incomplete");
  expect_corrupt_with(parameter + 12, std::uint32_t{0}, "a kernel's parameters are incomplete");
  expect_corrupt_with(parameter + 1, std::uint8_t{0x18}, "a kernel's parameters are incomplete");
  auto const block = find(good, ".nv.info.kernel", std::string("\x04\x05\x0c\0", 4));
  expect_corrupt_with(block + 8, ~std::uint32_t{0},
                      "an attribute with more threads than a block can have");
  auto const large = find(good, ".nv.info.fixed_block", std::string("\x04\x45\x0c\0", 4));
  expect_corrupt_with(large + 2, std::uint16_t{4}, "an attribute");
  expect_corrupt_with(parameter, std::uint8_t{3}, "an attribute of an unknown format");
  auto const callees = find(good, ".nv.info.kernel", std::string("\x04\x0f", 2));
  expect_corrupt_with(callees + 4, index_of(good, "counter"),
                      "an attribute of a function that is not there");
  auto const bank = find(good, ".nv.info.kernel", std::string("\x04\x0a\x08\0", 4));
  expect_corrupt_with(bank + 4, index_of(good, "counter"),
                      "an attribute of a section that is not there");
}

TEST(CubinReader, RefusesNotesPastTheEnd)
{
  auto const good = types();
  auto const note = offset_of(good, ".note.nv.tkinfo");
  expect_corrupt_with(note, ~std::uint32_t{0}, "a note past the end of its section");
  expect_corrupt_with(note + 4, ~std::uint32_t{0},
                      "a note past the end of its section, at byte " + std::to_string(note + 24));
  expect_corrupt_with(
      note + 24 + 5 * 4, std::uint32_t{0x10000},
      "a note whose text is past its end, at byte " + std::to_string(note + 24 + 24 + 0x10000));
}

TEST(CubinReader, ReadsOrRefusesEveryMutation)
{
  std::mt19937 random(7);
  for (auto const* name : {"sm_80", "sm_100f"}) {
    auto const good = cubin_of("types_sass.fatbin", name);
    for (int i = 0; i < 3000; ++i) {
      auto bytes = good;
      for (auto k = random() % 4 + 1; k > 0; --k)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      try {
        (void)read_cubin(bytes, name);
      } catch (format_error const& failed) {
        EXPECT_TRUE(failed.details().code == error_code::corrupt_cubin) << failed.what();
      }
    }
  }
}

// Damage of a cubin's structure on which nvJitLink crashes or hangs.

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

namespace {

void expect_cubin_above_limit(byte_buffer const& bytes, std::string const& says)
{
  try {
    read_cubin(bytes, "x.cubin");
    ADD_FAILURE() << "no error; expected: " << says;
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.what(), testing::StartsWith("x.cubin: the cubin " + says));
    EXPECT_TRUE(failed.details().code == error_code::above_limit);
    EXPECT_EQ(failed.details().hint, "split it into several, each with fewer sources");
  }
}

/// types() with `count` more symbols like `model`, each called `name`.
byte_buffer with_symbols(std::string const& model, std::string const& name, std::size_t count)
{
  auto bytes = types();
  auto names = content_of(bytes, ".strtab");
  auto symbols = content_of(bytes, ".symtab");
  auto const begin = bytes.begin() + static_cast<std::ptrdiff_t>(symbol(bytes, model, 0));
  byte_buffer copy(begin, begin + sizeof(Elf64_Sym));
  put(copy, 0, static_cast<std::uint32_t>(names.size()));
  for (auto const letter : name) names.push_back(static_cast<std::byte>(letter));
  names.push_back(std::byte{0});
  for (std::size_t i = 0; i < count; ++i) symbols.insert(symbols.end(), copy.begin(), copy.end());
  return with_content(with_content(bytes, ".strtab", names), ".symtab", symbols);
}

}  // namespace

TEST(CubinReader, RefusesANameAboveTheLimit)
{
  auto const bytes = with_symbols("hook_of_any", std::string(limits::k_name_bytes + 1, 'n'), 1);
  expect_cubin_above_limit(bytes, "has a name of more than 16384 bytes, the limit");
}

TEST(CubinReader, RefusesMoreDeclarationsThanTheLimit)
{
  auto const bytes = with_symbols("hook_of_any", "hook_of_any", limits::k_declarations);
  expect_cubin_above_limit(
      bytes, "declares more than 1048576 functions, parameters and variables, the limit");
}

TEST(CubinReader, RefusesNamesThatAreAboveTheLimitTogether)
{
  auto const bytes = with_symbols("hook_of_any", std::string(limits::k_name_bytes, 'n'),
                                  limits::k_cubin_name_bytes / limits::k_name_bytes);
  expect_cubin_above_limit(bytes, "has names of more than 67108864 bytes together, the limit");
}

TEST(CubinReader, RefusesMoreParametersOfAFunctionThanTheLimit)
{
  auto bytes = types();
  auto names = content_of(bytes, ".strtab");
  auto const prototype = static_cast<std::uint32_t>(names.size());
  for (auto const letter : "#v" + std::string(limits::k_parameters + 1, 'i') + '\0')
    names.push_back(static_cast<std::byte>(letter));
  bytes = with_content(bytes, ".strtab", names);
  put(bytes, offset_of(bytes, ".nv.prototype") + 4, prototype);
  expect_cubin_above_limit(bytes,
                           "has a function of more than 4096 parameters, the limit, at byte");
}

TEST(CubinReader, RefusesMoreParametersOfAKernelThanTheLimit)
{
  byte_buffer attributes((limits::k_parameters + 1) * 16);
  for (std::size_t i = 0; i <= limits::k_parameters; ++i) {
    put(attributes, i * 16, std::uint32_t{0x000C1704});
    put(attributes, i * 16 + 8, static_cast<std::uint16_t>(i));
  }
  expect_cubin_above_limit(with_content(types(), ".nv.info.kernel", attributes),
                           "has a kernel of more than 4096 parameters, the limit");
}
