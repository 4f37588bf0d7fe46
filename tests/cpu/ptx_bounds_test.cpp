// SPDX-License-Identifier: Apache-2.0
// Accesses that are not aligned, or of a byte too much: memory whose size is not a multiple of that
// of the access. Shared memory: tests/cpu/conformance/memory.cases.
#include "launched_kernel.hpp"
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {
namespace {

/// A kernel with 7 bytes of global memory, `bytes`, whose address is %rd4.
std::vector<source> with_seven_bytes(std::string const& body)
{
  return {{"a.ptx", ".global .align 8 .b8 bytes[7];\n" + kernel_of("mov.u64 %rd4, bytes;" + body)}};
}

TEST_F(Ptx, RefusesTheByteAfterAVariable)
{
  EXPECT_EQ(run(with_seven_bytes("ld.global.u8 %v, [%rd4+6];"), 4), values(4, 0));
  expect_failure(error_kind::address, "reads 1 bytes at",
                 with_seven_bytes("ld.global.u8 %v, [%rd4+7];"));
  expect_failure(error_kind::address, "0 bytes past the end of bytes (7 bytes)",
                 with_seven_bytes("st.global.u8 [%rd4+7], %t; mov.u32 %v, 0;"));
}

TEST_F(Ptx, RefusesAWordAcrossTheEndOfAVariable)
{
  expect_failure(error_kind::address, "reads 4 bytes at",
                 with_seven_bytes("ld.global.u32 %v, [%rd4+4];"));
  expect_failure(error_kind::address, "writes 4 bytes at",
                 with_seven_bytes("st.global.u32 [%rd4+4], %t; mov.u32 %v, 0;"));
  expect_failure(error_kind::address, "in bytes (7 bytes)",
                 with_seven_bytes("atom.global.add.u32 %v, [%rd4+4], 1;"));
  expect_failure(error_kind::address, "in bytes (7 bytes)",
                 with_seven_bytes("ld.global.u64 %rd5, [%rd4]; mov.u32 %v, 0;"));
}

TEST_F(Ptx, RefusesTheAccessOfTheOnlyThreadWhoseWordIsAcrossTheEnd)
{
  expect_failure(error_kind::address, "thread (3,0,0): ld.global.u32",
                 {{"a.ptx", ".global .align 4 .b8 bytes[15];\n" +
                                kernel_of("mul.wide.u32 %rd4, %t, 4; mov.u64 %rd5, bytes;"
                                          "add.u64 %rd4, %rd4, %rd5; ld.global.u32 %v, [%rd4];")}});
}

TEST_F(Ptx, RefusesTheAccessOfTheOnlyThreadThatIsNotAligned)
{
  auto const refuse = [&](char const* message, std::string const& body) {
    expect_failure(error_kind::address, message,
                   {{"a.ptx", ".global .align 4 .b8 bytes[64];\n" +
                                  kernel_of(".shared .align 4 .b8 s[64]; setp.eq.u32 %p1, %t, 2;"
                                            "shl.b32 %r1, %t, 2; @%p1 add.u32 %r1, %r1, 1;" +
                                            body)}});
  };
  refuse("thread (2,0,0): ld.shared.u32",
         "mov.u32 %r2, s; add.u32 %r1, %r1, %r2; ld.shared.u32 %v, [%r1];");
  refuse("thread (2,0,0): ld.global.u32",
         "cvt.u64.u32 %rd4, %r1; mov.u64 %rd5, bytes; add.u64 %rd4, %rd4, %rd5;"
         "ld.global.u32 %v, [%rd4];");
}

/// ptxas refuses such addresses.
TEST_F(Ptx, RefusesConstantAddressesOutsideOfSharedMemory)
{
  auto const message_of = [](char const* address, std::uint32_t shared_bytes) -> std::string {
    try {
      auto const load = std::string("ld.shared.u32 %v, [") + address + "];";
      (void)launch_kernel(k_header + kernel_of(load), {.shared_bytes = shared_bytes});
    } catch (code_error const& failed) {
      return failed.what();
    }
    return "no failure";
  };
  EXPECT_EQ(message_of("4", 8), "no failure");
  EXPECT_THAT(message_of("2", 8), testing::HasSubstr("in shared memory, not aligned to its size"));
  EXPECT_THAT(message_of("4", 7), testing::HasSubstr("outside the block's 7 bytes"));
}

TEST_F(Ptx, RefusesAWordAcrossTheEndOfTheStack)
{
  expect_failure(error_kind::address, "reads 8 bytes at",
                 "alloca.u64 %rd4, 12, 8; ld.local.u64 %rd5, [%rd4+8]; mov.u32 %v, 0;");
}

}  // namespace
}  // namespace fatlink::interpreter
