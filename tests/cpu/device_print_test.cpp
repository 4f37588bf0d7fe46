// SPDX-License-Identifier: Apache-2.0
// printf of device code prints as CUDA's, and messages name the allocations beside an address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <span>
#include <string>

#include "interpreter/execution/memory.hpp"
#include "interpreter/machine.hpp"

namespace fatlink::interpreter {
namespace {

/// What vprintf prints for the format and one argument of 8 bytes.
std::string printed(std::string const& format, std::uint64_t argument)
{
  std::string bytes;
  for (auto const c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
  auto const text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
      ".global .align 1 .b8 text[64] = {" +
      bytes +
      "0};\n.visible .entry k(.param .u64 value)\n{\n.local .align 8 .b8 packed[8];\n"
      ".reg .b64 %d<5>; .reg .b32 %r1;\nld.param.u64 %d1, [value]; st.local.u64 [packed], %d1;\n"
      "mov.u64 %d2, packed; cvta.local.u64 %d3, %d2; mov.u64 %d4, text;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d4;\n"
      "st.param.b64 [b], %d3; call.uni (r), vprintf, (a, b); ld.param.b32 %r1, [r]; }\nret;\n}\n";
  module_text const module{text, "a.ptx"};
  program program(std::make_shared<memory>(), {&module, 1});
  std::string result;
  std::array const arguments{std::as_bytes(std::span(&argument, 1))};
  launch(program, program.find("k"), {.print = [&](std::string_view part) { result += part; }},
         arguments);
  return result;
}

TEST(DevicePrint, PrintsPointersAsTheCLibraryDoes)
{
  EXPECT_EQ(printed("%p", 0x7000'0000'1000), "0x700000001000");
  EXPECT_EQ(printed("%p", 0), "(nil)");
  EXPECT_EQ(printed("%8p|", 0), "   (nil)|");
  EXPECT_EQ(printed("%-8p|", 0x10), "0x10    |");
}

TEST(DevicePrint, PrintsANullText)
{
  EXPECT_EQ(printed("%s", 0), "(null)");
}

TEST(DevicePrint, NarrowsArguments)
{
  EXPECT_EQ(printed("%hhx", 0xFFFFFFFF), "ff");
  EXPECT_EQ(printed("%hd", 0x1FFFF), "-1");
  EXPECT_EQ(printed("%+5d%%", 7), "   +7%");
}

TEST(DevicePrint, EndsATextAfterAMebibyte)
{
  EXPECT_EQ(printed("%1048576s%1048576s", 0).size(), 1'048'576U);
}

/// snprintf would take two gigabytes for them.
TEST(DevicePrint, PrintsNothingForAPrecisionOrWidthThatIsLongerThanAText)
{
  auto const kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  auto const before = kilobytes();
  for (auto const* format :
       {"a%.400000000fb", "a%400000000db", "a%.2147483647eb", "a%2147483648db"})
    EXPECT_EQ(printed(format, 0x3FF0'0000'0000'0000), "ab") << format;
  EXPECT_LT(kilobytes() - before, 64 << 10);
}

TEST(DeviceMemory, IsDescribedByTheAllocationsOnBothSides)
{
  memory device_memory;
  auto const first = device_memory.allocate(256);
  auto const second = device_memory.allocate(1024, "table");
  auto const& regions = *device_memory.snapshot();
  auto const gap = second.base - first.base - 256;
  EXPECT_EQ(address_text(regions, first.base + 256),
            "0 bytes past the end of an allocation of 256 bytes, " + std::to_string(gap) +
                " bytes before table (1024 bytes)");
  EXPECT_EQ(address_text(regions, second.base + 1028),
            "4 bytes past the end of table (1024 bytes)");
  device_memory.release(first.base);
  EXPECT_EQ(address_text(*device_memory.snapshot(), first.base),
            std::to_string(second.base - first.base) + " bytes before table (1024 bytes)");
}

}  // namespace
}  // namespace fatlink::interpreter
