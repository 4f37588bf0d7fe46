// SPDX-License-Identifier: Apache-2.0
// The file of nvJitLink: its identity, whether it is whole, how the loader finds it; and the lines
// of its log.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "fixtures.hpp"
#include "toolkit/elf_file.hpp"
#include "toolkit/link_in_process.hpp"
#include "toolkit/nvjitlink.hpp"
#include "toolkit/toolkit_library.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::HasSubstr;

namespace {

// The flags of libraries for a 64-bit architecture (glibc, sysdeps/generic/ldconfig.h).
constexpr std::int32_t k_x86_64 = 0x0303;
constexpr std::int32_t k_aarch64 = 0x0A03;
#if defined(__x86_64__)
constexpr auto k_own = k_x86_64;
constexpr auto k_other = k_aarch64;
#else
constexpr auto k_own = k_aarch64;
constexpr auto k_other = k_x86_64;
#endif

/// An ld.so.cache of one entry, as glibc 2.36 writes it.
byte_buffer loader_cache(std::string const& name, std::string const& path,
                         std::int32_t flags = k_own)
{
  std::string text("glibc-ld.so.cache1.1");
  auto const number = [&](auto value) {
    text.append(reinterpret_cast<char const*>(&value), sizeof value);
  };
  constexpr std::uint32_t k_strings = 48 + 24;
  number(std::uint32_t{1});
  number(static_cast<std::uint32_t>(name.size() + path.size() + 2));
  text.resize(48);
  number(flags);
  number(k_strings);
  number(static_cast<std::uint32_t>(k_strings + name.size() + 1));
  number(std::uint32_t{0});
  number(std::uint64_t{0});
  text += name + '\0' + path + '\0';
  auto const* const begin = reinterpret_cast<std::byte const*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace

TEST(NvjitlinkIdentity, IsNoNvjitlinkWhereItIsAnythingElse)
{
  fixtures::folder const folder;
  EXPECT_FALSE(nvjitlink_identity("/nowhere/libnvJitLink.so.13"));
  EXPECT_FALSE(nvjitlink_identity(folder.path().string()));
  EXPECT_FALSE(nvjitlink_identity(folder.write("empty", "")));
  EXPECT_FALSE(nvjitlink_identity(folder.write("text", std::string(4096, 'x'))));
  EXPECT_FALSE(nvjitlink_identity("/proc/self/exe"));
}

TEST(NvjitlinkIdentity, IsTheSameWhereverItLiesAndAnotherWhereItsBytesAre)
{
  fixtures::folder const folder;
  auto const original = nvjitlink_identity(places::hostile_nvjitlink());
  ASSERT_TRUE(original);
  EXPECT_THAT(*original, testing::StartsWith("13.? "));
  auto const copy = folder.path() / "copy.so";
  std::filesystem::copy_file(places::hostile_nvjitlink(), copy);
  EXPECT_EQ(nvjitlink_identity(copy), original);
  std::ofstream(copy, std::ios::app) << 'x';
  EXPECT_NE(nvjitlink_identity(copy), original);
}

TEST(NvjitlinkIdentity, IsNoNvjitlinkForAnotherArchitecture)
{
  fixtures::folder const folder;
  std::ifstream file(places::hostile_nvjitlink(), std::ios::binary);
  std::string other{std::istreambuf_iterator<char>(file), {}};
  for (auto const machine : {EM_X86_64, EM_AARCH64, EM_RISCV}) {
    other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(machine);
    EXPECT_EQ(nvjitlink_identity(folder.write("other", other)).has_value(),
              machine == k_host_machine)
        << machine;
  }
}

TEST(NvjitlinkIdentity, DamagedIsNoneOrAnotherAndNeverACrash)
{
  fixtures::folder const folder;
  std::ifstream file(places::hostile_nvjitlink(), std::ios::binary);
  std::string const whole{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t i = 0; i < 1024; ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)nvjitlink_identity(folder.write("damaged", damaged));
    EXPECT_NE(nvjitlink_identity(folder.write("short", whole.substr(0, i))),
              nvjitlink_identity(places::hostile_nvjitlink()));
  }
}

TEST(FindByLoader, FindsWhatDlopenWould)
{
  for (auto const* name : {"libz.so.1", "libzstd.so.1", "libc.so.6", "libcrypt.so.1"}) {
    std::string why;
    auto const before = find_by_loader(name);
    auto const opened = shared_library::open(name, why);
    if (!opened) continue;
    ASSERT_TRUE(before) << name;
    EXPECT_EQ(std::filesystem::canonical(*before), opened.path());
  }
  EXPECT_FALSE(find_by_loader("libthere-is-none.so.1"));
}

TEST(FindByLoader, ReadsTheLoadersCache)
{
  auto const cache = loader_cache("liba.so.1", "/x/liba.so.1");
  EXPECT_EQ(find_in_loader_cache(cache, "liba.so.1"), "/x/liba.so.1");
  EXPECT_FALSE(find_in_loader_cache(cache, "libb.so.1"));
  for (std::size_t n = 0; n < cache.size() - 22; ++n)
    EXPECT_FALSE(find_in_loader_cache(bytes_view(cache).first(n), "liba.so.1")) << "kept " << n;
}

TEST(FindByLoader, IgnoresLibrariesOfAnotherArchitectureInTheLoadersCache)
{
  auto const cache = loader_cache("liba.so.1", "/x/liba.so.1", k_other);
  EXPECT_FALSE(find_in_loader_cache(cache, "liba.so.1"));
}

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

TEST(Log, TellsErrorLinesFromOthers)
{
  for (auto const* line :
       {"error   : Prototype doesn't match for 'f'", "  error: x", "@E@error   : x", "@E@ fatal: x",
        "fatal   : x", "ERROR 9: finish", "Fatal: x", "ptxas fatal   : x", "nvlink error   : x",
        "ptxas application ptx input, line 25; error   : Not a name of any known instruction"})
    EXPECT_TRUE(is_error_line(line)) << line;
  for (auto const* line :
       {"", "  ", "warning : an error", "info    : 0 bytes gmem", "@W@warning: x",
        "ptxas warning : x", "ptxas application ptx input, line 25; warning : x",
        "ptxas application ptx input, line 25 error", "SUCCESS: x", "INFO: error"})
    EXPECT_FALSE(is_error_line(line)) << line;
}

TEST(Log, TellsProgressReportsOfNewerVersions)
{
  EXPECT_TRUE(is_progress_line("SUCCESS: NVVM70 LTOIR Container created (1872 bytes)"));
  EXPECT_TRUE(is_progress_line("INFO: NVVM70 LTOIR Container created (1872 bytes)"));
  EXPECT_FALSE(is_progress_line("warning : x"));
}

TEST(Log, FindsTheFirstErrorLine)
{
  EXPECT_EQ(first_error_line("info\n\n  error: a\nfatal: b\n"), "  error: a");
  EXPECT_EQ(first_error_line("info\n"), "");
}

TEST(Log, QuotesTheNameAfterAText)
{
  EXPECT_EQ(quoted_after("error: no 'f' here 'g'", "no '"), "f");
  EXPECT_EQ(quoted_after("error: no 'f", "no '"), "f");
  EXPECT_EQ(quoted_after("error: 'f'", "no '"), "");
}
