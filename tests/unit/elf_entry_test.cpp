// SPDX-License-Identifier: Apache-2.0
// Entries of fatbins that hold SASS: what is refused of them.
#include <gmock/gmock.h>

#include "cubin/cubin.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
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
