// SPDX-License-Identifier: Apache-2.0
// What the reader of cubins refuses.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>

#include "corrupt_cubin.hpp"
#include "cubin/cubin.hpp"
#include "cubin_bytes.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;
using testing::HasSubstr;

namespace {

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
