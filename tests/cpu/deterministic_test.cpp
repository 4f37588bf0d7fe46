// SPDX-License-Identifier: Apache-2.0
// Blocks that run in order: atomics on floats give the same bits in each run.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "launched_kernel.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_blocks = 200;
constexpr std::uint32_t k_block_threads = 96;

/// Adds 1 / (1 + i) for the index i of every thread to *out.
constexpr char const* k_sum_kernel =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %o; .reg .f32 %f<9>;\n"
    "ld.param.u64 %o, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, %r2, %r3; add.u32 %r4, %r4, 1; cvt.rn.f32.u32 %f1, %r4;\n"
    "rcp.rn.f32 %f2, %f1; red.global.add.f32 [%o], %f2; ret;\n}\n";

/// The bits of the sum.
std::uint32_t sum_in_order()
{
  return launch_kernel(
      k_sum_kernel, {.grid = {k_blocks, 1, 1}, .block = {k_block_threads, 1, 1}, .in_order = true});
}

TEST(Deterministic, SumsOfFloatsHaveTheSameBitsInTwentyRuns)
{
  auto const first = sum_in_order();
  for (int i = 1; i < 20; ++i) EXPECT_EQ(sum_in_order(), first);
}

TEST(Deterministic, SumsAreThoseInTheOrderOfTheBlocks)
{
  float expected = 0;
  for (std::uint32_t i = 1; i <= k_blocks * k_block_threads; ++i)
    expected += 1 / static_cast<float>(i);
  EXPECT_EQ(sum_in_order(), std::bit_cast<std::uint32_t>(expected));
}

/// Each block waits until the next one, if there is one, has ended: it makes room for it.
TEST(Deterministic, BlocksThatWaitForLaterOnesEnd)
{
  std::string const text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %o;\n"
      "ld.param.u64 %o, [out]; mov.u32 %r1, %ctaid.x; sub.u32 %r2, 7, %r1;\n"
      "l: ld.volatile.global.u32 %r3, [%o]; setp.ne.u32 %p, %r3, %r2; @%p bra l;\n"
      "add.u32 %r3, %r3, 1; st.volatile.global.u32 [%o], %r3; ret;\n}\n";
  EXPECT_EQ(launch_kernel(text, {.grid = {8, 1, 1}, .block = {1, 1, 1}, .in_order = true}), 8U);
}

}  // namespace
}  // namespace fatlink::interpreter
