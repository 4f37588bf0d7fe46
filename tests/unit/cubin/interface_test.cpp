// SPDX-License-Identifier: Apache-2.0
// What a cubin shows: functions, prototypes, target; and cubins as entries of fatbins.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cubin/cubin.hpp"
#include "cubin/functions.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fixtures.hpp"
#include "util/limits.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename Symbols>
std::vector<std::string> texts(Symbols const& symbols)
{
  std::vector<std::string> texts;
  for (auto const& symbol : symbols) texts.push_back(to_string(symbol));
  std::sort(texts.begin(), texts.end());
  return texts;
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
  EXPECT_FALSE(read_cubin(with_note("-arch sm_90a", "-arch sm_90c"), "x").has_exact_target);
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
  auto const note = offset_of(bytes, ".note.nv.cuinfo");
  put(bytes, note + 4, std::uint32_t{6});  // in cuBLASLt
  EXPECT_EQ(read_cubin(bytes, "x").toolkit, (cubin_toolkit{13, 0}));
  put(bytes, note + 28, std::uint32_t{1});
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

TEST(ElfEntry, IsReadOnceForAllCopiesOfItsFatbin)
{
  auto const file = fixtures::fatbin("types_sass.fatbin");
  auto const copy = file;  // NOLINT(performance-unnecessary-copy-initialization)
  auto const& entry = file.entries()[0];
  EXPECT_EQ(&file.interface(entry), &copy.interface(entry));
  EXPECT_EQ(&file.interface(entry), &copy.interface(copy.entries()[0]));
}

TEST(ElfEntry, StatesWhetherItIsRelocatableAndItsToolkit)
{
  auto const part = input::from_bytes(fixtures::bytes("toolkits/cuda_13.5.cubin"), "x").modules();
  auto const cubin_in = [](fatbin const& module) {
    return read_cubin(read_elf(module.entries()[0]), "x");
  };
  EXPECT_TRUE(cubin_in(part[0]).is_relocatable);
  EXPECT_EQ(cubin_in(part[0]).toolkit, (cubin_toolkit{13, 5}));
  auto const whole = input::from_bytes(fixtures::bytes("forms/whole_program.cubin"), "x").modules();
  EXPECT_FALSE(cubin_in(whole[0]).is_relocatable);
}
