// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "cubin/cubin_file.hpp"
#include "cubin/prototype.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
#include "fixtures.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

byte_buffer types()
{
  return cubin_of("types_sass.fatbin", "sm_90a");
}

template <typename Symbols>
std::vector<std::string> texts(Symbols const& symbols)
{
  std::vector<std::string> texts;
  for (auto const& symbol : symbols) texts.push_back(to_string(symbol));
  std::sort(texts.begin(), texts.end());
  return texts;
}

void expect_corrupt(byte_buffer const& bytes, std::string const& says)
{
  try {
    read_cubin(bytes, "x.cubin");
    ADD_FAILURE() << "no error; expected: " << says;
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.what(), testing::StartsWith("x.cubin: damaged cubin: "));
    EXPECT_THAT(failed.what(), HasSubstr(says));
    EXPECT_THAT(failed.what(), HasSubstr("at byte " + std::to_string(failed.offset())));
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

/// The text of the first note in .note.nv.tkinfo, replaced.
byte_buffer with_note(std::string const& from, std::string const& to)
{
  auto bytes = types();
  auto const offset = find(bytes, ".note.nv.tkinfo", from);
  std::memcpy(bytes.data() + offset, to.data(), to.size());
  return bytes;
}

/// The types of a prototype, or "malformed".
std::string read(std::string const& text)
{
  ptx_function function{.name = "f"};
  return read_prototype(text, function) ? to_string(function) : "malformed";
}

}  // namespace

TEST(Cubin, StatesTheExactTargetTheToolkitAndWhetherItIsRelocatable)
{
  for (auto const* name : {"sm_80", "sm_90", "sm_90a", "sm_100f"}) {
    auto const cubin = read_cubin(cubin_of("types_sass.fatbin", name), name);
    EXPECT_EQ(cubin.target, target(name));
    EXPECT_TRUE(cubin.has_exact_target);
    EXPECT_TRUE(cubin.is_relocatable);
    EXPECT_EQ(cubin.toolkit, (cubin_toolkit{13, 0}));
  }
}

TEST(Cubin, OfCuda12StatesTargetAndToolkitInItsHeader)
{
  auto const cubin = read_cubin(fixtures::bytes("toolkits/cuda_12.9.cubin"), "12.9");
  EXPECT_EQ(cubin.target, target("sm_90a"));
  EXPECT_TRUE(cubin.has_exact_target);
  EXPECT_EQ(cubin.toolkit, (cubin_toolkit{12, 9}));
}

TEST(Cubin, IsTheSameOfEveryToolkit)
{
  for (auto const* version : {"12.9", "13.5"}) {
    auto const name = std::string("toolkits/cuda_") + version + ".cubin";
    auto const cubin = read_cubin(fixtures::bytes(name), name);
    EXPECT_EQ(cubin.target, target("sm_90a"));
    EXPECT_THAT(texts(cubin.interface.kernels), ElementsAre("apply(b8[8])"));
    EXPECT_THAT(texts(cubin.interface.definitions), ElementsAre("(b64) transform(b64)"));
    EXPECT_THAT(texts(cubin.interface.hooks), ElementsAre("(b32) user_transform(b32)"));
  }
  EXPECT_EQ(read_cubin(fixtures::bytes("toolkits/cuda_13.5.cubin"), "").toolkit,
            (cubin_toolkit{13, 5}));
}

TEST(Cubin, HasNoExactTargetWithoutNotesThatStateIt)
{
  auto const cubin = read_cubin(with_note("-arch sm_90a", "-mach"), "x");
  EXPECT_EQ(cubin.target, target("sm_90"));
  EXPECT_FALSE(cubin.has_exact_target);
  EXPECT_FALSE(read_cubin(with_note("-arch sm_90a", "-arch sm_x"), "x").has_exact_target);
  EXPECT_FALSE(read_cubin(with_note("-arch sm_90a", "-arch sm_80"), "x").has_exact_target);
}

TEST(Cubin, TakesTheStrictestSuffixOfItsNotes)
{
  for (auto const* suffixes : {"fa", "af", "a-", "f-", "-f"}) {
    auto bytes = cubin_of("types_sass.fatbin", "sm_100f");
    auto const arch = find(bytes, ".note.nv.tkinfo", "sm_100f") + 6;
    auto const note = elf_reader(bytes).section(section(bytes, ".note.nv.tkinfo"));
    auto const end = bytes.size();
    put(bytes, header(bytes, ".note.nv.tkinfo", offsetof(Elf64_Shdr, sh_offset)), end);
    put(bytes, header(bytes, ".note.nv.tkinfo", offsetof(Elf64_Shdr, sh_size)), 2 * note.size);
    for (auto const* suffix : {suffixes, suffixes + 1}) {
      bytes[arch] = static_cast<std::byte>(*suffix);
      auto const begin = bytes.begin() + static_cast<std::ptrdiff_t>(note.offset);
      byte_buffer const copy(begin, begin + static_cast<std::ptrdiff_t>(note.size));
      bytes.insert(bytes.end(), copy.begin(), copy.end());
    }
    auto const strictest = std::string(suffixes).find('a') != std::string::npos ? 'a' : 'f';
    EXPECT_EQ(read_cubin(bytes, "x").target, target(100, strictest)) << suffixes;
  }
}

TEST(Cubin, StatesTheToolkitOfEitherNote)
{
  auto bytes = with_note("release 13.0", "release 13.x");
  EXPECT_EQ(read_cubin(bytes, "x").toolkit, (cubin_toolkit{13, 0}));
  put(bytes, offset_of(bytes, ".note.nv.cuinfo") + 28, std::uint32_t{1});
  EXPECT_FALSE(read_cubin(bytes, "x").toolkit);
  EXPECT_EQ(read_cubin(with_note("release 13.0", "release x3.0"), "x").toolkit,
            (cubin_toolkit{13, 0}));
  EXPECT_EQ(read_cubin(with_note("release 13.0", "release 13.4"), "x").toolkit,
            (cubin_toolkit{13, 4}));
}

TEST(CubinInterface, HasCoarseTypesOfEveryArchitecture)
{
  for (auto const* name : {"sm_80", "sm_90", "sm_90a", "sm_100f"}) {
    auto const interface = read_cubin(cubin_of("types_sass.fatbin", name), name).interface;
    EXPECT_THAT(texts(interface.definitions),
                ElementsAre("(b32) any(b32, ...)", "(b8[16]) wide(b8[16])",
                            "(b8[3]) bytes(b8[3], b8[16])", "nothing()"));
    EXPECT_THAT(texts(interface.weak), ElementsAre("(b32) _Z5twiceIfET_S0_(b32)"));
    EXPECT_THAT(texts(interface.hooks),
                ElementsAre("(b32) hook(b32, b64, b32, b8[12])", "(b32) hook_of_any(b64, ...)",
                            "hook_of_pointers(b64, b32, b64)", "passed_on(?)"));
    for (auto const* list : {&interface.definitions, &interface.weak, &interface.hooks})
      for (auto const& function : *list) EXPECT_TRUE(function.is_coarse) << function.name;
  }
}

TEST(CubinInterface, KnowsNoTypesOfAFunctionWhoseAddressIsTaken)
{
  for (auto const& hook : read_cubin(types(), "x").interface.hooks)
    EXPECT_EQ(hook.is_untyped, hook.name == "passed_on");
}

TEST(CubinInterface, HasKernelsWithTheBytesOfEachParameterAndTheirBlocks)
{
  auto const kernels = read_cubin(types(), "x").interface.kernels;
  EXPECT_THAT(texts(kernels),
              ElementsAre("fixed_block(b8[20000], b8[2])", "kernel(b8[8], b8[4], b8[12])"));
  for (auto const& kernel : kernels) {
    EXPECT_EQ(kernel.max_block_threads, kernel.name == "kernel" ? 256U : 0U);
    EXPECT_THAT(kernel.required_block,
                kernel.name == "kernel" ? ElementsAre(0, 0, 0) : ElementsAre(32, 2, 1));
  }
}

TEST(CubinInterface, HasVariablesOfEveryMemoryWithTheirBytes)
{
  auto const interface = read_cubin(types(), "x").interface;
  EXPECT_THAT(texts(interface.variables),
              ElementsAre("const b8 table[28]", "global b8 counter[4]", "global b8 pointer[8]",
                          "global b8 scale[4]", "global b8 weak_variable[8]",
                          "managed global b8 shared_with_host[4]"));
  EXPECT_THAT(texts(interface.external_variables),
              ElementsAre("const b8 constant_elsewhere[4]", "global b8 elsewhere[16]",
                          "shared b8 dynamic[]"));
  for (auto const& variable : interface.variables) {
    EXPECT_TRUE(variable.is_coarse);
    EXPECT_EQ(variable.is_weak, variable.name == "weak_variable");
  }
}

TEST(CubinInterface, IsThatOfTheEntryAndReadOnce)
{
  auto const file = fixtures::fatbin("library_sass.fatbin");
  auto const& entry = file.entries()[1];
  ASSERT_EQ(entry.kind, entry_kind::elf);
  auto const& interface = file.interface(entry);
  EXPECT_THAT(texts(interface.kernels), ElementsAre("apply_transform(b8[8], b8[8], b8[8])"));
  EXPECT_THAT(texts(interface.hooks), ElementsAre("(b32) user_transform(b32)"));
  EXPECT_EQ(&file.interface(entry), &interface);
}

TEST(CubinPrototype, ReadsEveryWidthClass)
{
  EXPECT_EQ(read("#v"), "f()");
  EXPECT_EQ(read("#ii"), "(b32) f(b32)");
  EXPECT_EQ(read("#lxb12"), "(b64) f(b128, b8[12])");
  EXPECT_EQ(read("#vi4l"), "f(b32[4], b64)");
  EXPECT_EQ(read("#vlb0"), "f(b64, ...)");
  EXPECT_EQ(read("#vb0"), "f(...)");
  EXPECT_EQ(read(std::string("#vi\0l", 5)), "f(b32)");
  EXPECT_EQ(read("#ill|12p4r20sRx00fff9"), "(b32) f(b64, b64)");
}

TEST(CubinPrototype, RefusesOtherText)
{
  for (auto const* text : {"", "ii", "#", "#b", "#b0", "#vv", "#vb", "#vb0i", "#z", "#vz",
                           "#vb99999999999999999999999"})
    EXPECT_EQ(read(text), "malformed") << text;
}

TEST(CubinPrototype, RefusesMoreParametersThanTheLimit)
{
  EXPECT_EQ(read("#v" + std::string(limits::k_parameters, 'i')).size(),
            3 + 5 * limits::k_parameters - 2);
  EXPECT_THROW(read("#v" + std::string(limits::k_parameters + 1, 'i')), cubin_above_limit);
}

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
  expect_corrupt_with(offsetof(Elf64_Ehdr, e_flags), std::uint32_t{0x0500},
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
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_name)), std::uint32_t{0},
                      "a function or variable without a readable name");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_shndx)), std::uint16_t{0xFF00},
                      "a symbol is in a section that is not there");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_shndx)), std::uint16_t{SHN_ABS},
                      "a kernel outside of all sections");
  expect_corrupt_with(at("kernel", offsetof(Elf64_Sym, st_size)), ~std::uint64_t{0},
                      "a symbol reaches past the end of its section");
  expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_value)), ~std::uint64_t{0},
                      "a symbol reaches past the end of its section");
  expect_corrupt_with(at("counter", offsetof(Elf64_Sym, st_other)), std::uint8_t{0x60},
                      "a variable in an unknown memory");
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

TEST(CubinReader, RefusesNamesAboveTheLimit)
{
  auto bytes = types();
  auto const name = bytes.size();
  bytes.insert(bytes.end(), limits::k_name_bytes + 2, std::byte{'n'});
  bytes.back() = std::byte{0};
  auto const strings = elf_reader(bytes).section(section(bytes, ".strtab")).offset;
  put(bytes, header(bytes, ".strtab", offsetof(Elf64_Shdr, sh_size)), bytes.size() - strings);
  put(bytes, symbol(bytes, "counter", 0), static_cast<std::uint32_t>(name - strings));
  expect_error<format_error>([&] { read_cubin(bytes, "x.cubin"); },
                             "x.cubin: the cubin has a name of more than 16384 bytes, the limit");
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
  expect_corrupt_with(table, ~std::uint32_t{0}, "a prototype of no function");
  expect_corrupt_with(table, std::uint32_t{0}, "a prototype of no function");
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
  auto const calls = offset_of(good, ".nv.callgraph");
  expect_corrupt_with(header(good, ".nv.callgraph", offsetof(Elf64_Shdr, sh_entsize)),
                      std::uint64_t{4}, "a call graph of unknown size");
  expect_corrupt_with(calls, ~std::uint32_t{0}, "a call names a symbol that is not there");
  expect_corrupt_with(calls + 4, std::uint32_t{0xFFFFFF00},
                      "a call names a symbol that is not there");
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
                      std::uint32_t{1}, "a kernel without attributes");
  auto const parameter = find(good, ".nv.info.kernel", std::string("\x04\x17\x0c\0", 4));
  expect_corrupt_with(parameter + 8, std::uint16_t{1}, "a kernel's parameter is described twice");
  expect_corrupt_with(parameter + 8, std::uint16_t{9}, "a kernel's parameters are incomplete");
  expect_corrupt_with(parameter + 12, std::uint32_t{0}, "a kernel's parameters are incomplete");
  expect_corrupt_with(parameter + 1, std::uint8_t{0x18}, "a kernel's parameters are incomplete");
  auto const large = find(good, ".nv.info.fixed_block", std::string("\x04\x45\x0c\0", 4));
  expect_corrupt_with(large + 2, std::uint16_t{4}, "an attribute");
}

TEST(CubinReader, RefusesNotesPastTheEnd)
{
  auto const good = types();
  auto const note = offset_of(good, ".note.nv.tkinfo");
  expect_corrupt_with(note, ~std::uint32_t{0}, "truncated");
  expect_corrupt_with(note + 4, ~std::uint32_t{0}, "truncated");
  expect_corrupt_with(note + 24 + 5 * 4, ~std::uint32_t{0}, "truncated");
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

TEST(ElfEntry, WithACubinOfAnotherArchitectureIsRefused)
{
  auto bytes = fixtures::bytes("types_sass.fatbin");
  put(bytes, 16 + 0x1C, std::uint32_t{86});
  auto const file = fatbin::from_bytes(bytes, "t.fatbin");
  expect_error<format_error>(
      [&] { (void)file.interface(file.entries()[0]); },
      "t.fatbin: the elf entry at byte 16 is for sm_86, but its cubin for sm_80");
}

TEST(ElfEntry, ThatIsDamagedIsNamedByFileAndByte)
{
  auto bytes = fixtures::bytes("toolkits/cuda_13.5.cubin");
  bytes[0] = std::byte{0};
  try {
    read_cubin(bytes, cubin_name{"t.fatbin", "the elf entry at byte 16"});
    ADD_FAILURE();
  } catch (format_error const& failed) {
    EXPECT_STREQ(failed.what(),
                 "t.fatbin: the elf entry at byte 16: damaged cubin: is not a 64-bit ELF file, at "
                 "byte 0 of it");
    EXPECT_EQ(failed.details().input, "t.fatbin");
  }
}

TEST(ElfEntry, IsDecompressedOnlyIfItIsOne)
{
  auto const file = fixtures::fatbin("library_sass.fatbin");
  EXPECT_EQ(read_elf(file.entries()[1]).size(), file.entries()[1].uncompressed_size);
  expect_error<format_error>([&] { read_elf(file.entries()[0], "l.fatbin"); },
                             "l.fatbin: the elf entry at byte 16: is not an ELF file");
}
