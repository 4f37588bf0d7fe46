// SPDX-License-Identifier: Apache-2.0
#include "vendor/elf_file.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "fixtures.hpp"

using namespace fatlink::detail;
using testing::HasSubstr;

namespace {

/// The file of the C library, which this process has loaded.
std::string c_library()
{
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&::getpid), &info) == 0) return {};
  return info.dli_fname;
}

class ElfFile : public testing::Test {
 protected:
  /// The first `size` bytes of the C library.
  [[nodiscard]] std::string beginning(std::uint64_t size) const
  {
    auto const bytes = read_file(c_library(), std::uint64_t{64} << 20, {});
    return folder_.write("c.so", {reinterpret_cast<char const*>(bytes.data()), size});
  }
  fixtures::folder folder_;
};

}  // namespace

TEST_F(ElfFile, AWholeLibraryIsNotTruncated)
{
  elf_file const whole(c_library());
  EXPECT_LE(whole.needed_size(), whole.size());
  EXPECT_GT(whole.needed_size(), 1000U);
  EXPECT_EQ(explain_truncation(c_library()), "");
}

TEST_F(ElfFile, NeedsTheLastByteOfItsSegments)
{
  auto const needed = elf_file(c_library()).needed_size();
  EXPECT_EQ(explain_truncation(beginning(needed)), "");
  EXPECT_EQ(explain_truncation(beginning(needed - 1)),
            "is truncated: it has " + std::to_string(needed - 1) +
                " bytes, and its segments need " + std::to_string(needed) + "; install it again");
}

TEST_F(ElfFile, ASegmentPastTheLargestOffsetIsTruncated)
{
  auto bytes = read_file(beginning(4096), 4096, {});
  auto const first_offset = 64 + 8;  // in the program headers, which follow the header
  for (std::size_t header = first_offset; header + 8 <= 64 + 8 * 56; header += 56)
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(header), 8, std::byte{0xFF});
  auto const file =
      folder_.write("far.so", {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  EXPECT_THAT(explain_truncation(file), HasSubstr("is truncated: it has 4096 bytes"));
}

TEST_F(ElfFile, LeavesWhatIsNoSharedLibraryToTheLoader)
{
  EXPECT_EQ(explain_truncation(beginning(0)), "");
  EXPECT_EQ(explain_truncation(beginning(70)), "");
  EXPECT_EQ(explain_truncation(folder_.write("text.so", std::string(100, 'x'))), "");
  EXPECT_EQ(explain_truncation("/nowhere/c.so"), "");
}
