// SPDX-License-Identifier: Apache-2.0
// Entries of fatbins that hold SASS: what is refused of them.
#include <gmock/gmock.h>

#include "cubin/cubin.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
#include "fatbin/entry_facts.hpp"
#include "fatlink/input.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace cubin_bytes;

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
  EXPECT_EQ(&entry_access::facts_of(file, entry), &entry_access::facts_of(copy, entry));
  EXPECT_EQ(&file.interface(entry), &entry_access::facts_of(copy, entry).interface);
}

TEST(ElfEntry, StatesWhetherItIsRelocatableAndItsToolkit)
{
  auto const part = input::from_bytes(fixtures::bytes("toolkits/cuda_13.5.cubin"), "x").modules();
  auto const& facts = entry_access::facts_of(part[0], part[0].entries()[0]);
  EXPECT_TRUE(facts.is_relocatable);
  EXPECT_EQ(facts.toolkit, (cubin_toolkit{13, 5}));
  auto const whole = input::from_bytes(fixtures::bytes("forms/whole_program.cubin"), "x").modules();
  EXPECT_FALSE(entry_access::facts_of(whole[0], whole[0].entries()[0]).is_relocatable);
}
