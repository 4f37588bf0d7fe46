// SPDX-License-Identifier: Apache-2.0
// What the race check reports, and what it knows to be ordered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "launched_kernel.hpp"

namespace fatlink::interpreter {
namespace {

/// A kernel k(out) with shared memory `buffer`: %t is the thread, %b the block, %s the address of
/// the thread's word of shared memory, %n that of the next thread's, %o that of `out`. The
/// surface 0x500000000010 and the texture 0x500000000020 have the texels of `out`.
std::string race_kernel(std::string const& body)
{
  return ".version 9.0\n.target sm_90\n.address_size 64\n.global .align 4 .u32 lock = 0;\n"
         ".global .align 4 .u32 sum = 0; .global .align 4 .b8 parts[64];\n"
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<9>; .reg .b32 %t, %b, %s, %n, %r<9>; .reg .b64 %o, %d<9>;\n"
         ".shared .align 4 .b8 buffer[4096];\n"
         "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; ld.param.u64 %o, [out];\n"
         "mov.u32 %s, buffer; shl.b32 %r1, %t, 2; add.s32 %s, %s, %r1; mov.u32 %n, buffer;\n"
         "add.s32 %r1, %t, 1; and.b32 %r1, %r1, 63; shl.b32 %r1, %r1, 2; add.s32 %n, %n, %r1;\n" +
         body + "\nret;\n}\n";
}

/// The surface 0x500000000010 and the texture 0x500000000020 of the texels of `out`.
void add_texture_objects(memory& device_memory, std::uint64_t out)
{
  image const texels{out,
                     {.texels = {1, 32, texel_kind::unsigned_integer},
                      .width = 1024,
                      .row_bytes = 4096,
                      .allows_surface = true}};
  EXPECT_EQ(device_memory.textures().add_surface(texels), 0x5000'0000'0010);
  EXPECT_EQ(device_memory.textures().add_texture(texels, {}), 0x5000'0000'0020);
}

class RaceCheck : public testing::Test {
 protected:
  static void run(std::string const& body, std::uint32_t blocks = 1, std::uint32_t threads = 64)
  {
    (void)launch_kernel(race_kernel(body),
                        {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .check_races = true},
                        add_texture_objects);
  }

  static void expect_race(std::string const& message, std::string const& body,
                          std::uint32_t blocks = 1, std::uint32_t threads = 64)
  {
    try {
      run(body, blocks, threads);
      ADD_FAILURE() << "no race is reported";
    } catch (code_error const& failed) {
      EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(error_kind::race))
          << failed.what();
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
    }
  }
};

TEST_F(RaceCheck, FindsAMissingBarrierBeforeARead)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "st.shared.u32 [%s], %t; setp.lt.u32 %p1, %t, 32; xor.b32 %r1, %s, 128;\n"
              "@!%p1 ld.shared.u32 %r2, [%r1];");
}

TEST_F(RaceCheck, FindsAMissingBarrierAfterARead)
{
  expect_race("writes what thread 0 of block 0 read, without synchronisation",
              "st.shared.u32 [%s], %t; xor.b32 %r1, %s, 128; ld.shared.u32 %r2, [%r1];");
}

TEST_F(RaceCheck, FindsWritesOfTwoThreadsToATexelOfASurface)
{
  expect_race("writes what thread 0 of block 0 wrote, without synchronisation",
              "mov.u64 %d1, 0x500000000010; sust.b.1d.b32.trap [%d1, {8}], {%t};");
}

TEST_F(RaceCheck, FindsReadsOfASurfaceThatAnotherThreadWrites)
{
  expect_race(
      "without synchronisation",
      "mov.u64 %d1, 0x500000000010; setp.lt.u32 %p1, %t, 32;\n"
      "@%p1 sust.b.1d.b32.trap [%d1, {%s}], {%t}; and.b32 %r2, %t, 31; shl.b32 %r2, %r2, 2;\n"
      "@!%p1 suld.b.1d.b32.trap {%r1}, [%d1, {%r2}];");
}

TEST_F(RaceCheck, FindsReadsOfATextureThatAnotherThreadWrites)
{
  expect_race("without synchronisation",
              "mov.u64 %d1, 0x500000000020; setp.lt.u32 %p1, %t, 32; shl.b32 %r1, %t, 2;\n"
              "cvt.u64.u32 %d2, %r1; add.s64 %d2, %o, %d2; @%p1 st.global.u32 [%d2], %t;\n"
              "and.b32 %r2, %t, 31; @!%p1 tex.1d.v4.u32.s32 {%r1, %r3, %r4, %r5}, [%d1, {%r2}];");
}

TEST_F(RaceCheck, KnowsThatABarrierOrdersSurfaces)
{
  run("mov.u64 %d1, 0x500000000010; shl.b32 %r1, %t, 2; xor.b32 %r2, %r1, 128;\n"
      "sust.b.1d.b32.trap [%d1, {%r1}], {%t}; bar.sync 0; suld.b.1d.b32.trap {%r3}, [%d1, {%r2}];");
}

TEST_F(RaceCheck, FindsAMissingBarrierBeforeALoadOfMatrices)
{
  expect_race("reads what thread 1 of block 0 wrote, without synchronisation",
              "st.shared.u32 [%s], %t; mov.u32 %r1, buffer;\n"
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
              1, 64);
}

TEST_F(RaceCheck, FindsAMissingBarrierBeforeABulkCopyOfWhatThreadsWrote)
{
  expect_race("reads what thread 1 of block 0 wrote, without synchronisation",
              "st.shared.u32 [%s], %t; mov.u32 %r1, buffer; setp.eq.u32 %p1, %t, 0;\n"
              "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%o], [%r1], 64;",
              1, 64);
}

TEST_F(RaceCheck, FindsAMissingBarrierAfterAStoreOfMatrices)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "mov.u32 %r1, buffer; and.b32 %r2, %t, 7; shl.b32 %r2, %r2, 4;\n"
              "add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %t, 32; @!%p1 bra $read;\n"
              "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%t}; bra $end;\n"
              "$read: ld.shared.u32 %r3, [%r2];\n$end:");
}

TEST_F(RaceCheck, FindsAMissingBarrierAfterABulkCopy)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "mov.u32 %r1, buffer; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32;\n"
              "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%o], [%r1], 64;\n"
              "@%p2 ld.global.u32 %r2, [%o];");
}

TEST_F(RaceCheck, FindsAMissingBarrierAfterAnAsynchronousCopy)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "mov.u32 %r1, buffer; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32;\n"
              "@%p1 cp.async.ca.shared.global [%r1], [%o], 4; cp.async.wait_all;\n"
              "@%p2 ld.shared.u32 %r2, [%r1];");
}

TEST_F(RaceCheck, FindsAMissingBarrierBeforeAnAsynchronousCopyOfWhatAThreadWrote)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32; @%p1 st.global.u32 [%o], 5;\n"
              "@%p2 cp.async.ca.shared.global [%s], [%o], 4; cp.async.wait_all;");
}

TEST_F(RaceCheck, TakesABarrierBeforeARead)
{
  EXPECT_NO_THROW(run("st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %r1, [%n];"));
}

TEST_F(RaceCheck, FindsAMissingBarrierOfTheWarp)
{
  expect_race("without synchronisation", "st.shared.u32 [%s], %t; ld.shared.u32 %r1, [%n];", 1, 32);
}

TEST_F(RaceCheck, TakesABarrierOfTheWarp)
{
  EXPECT_NO_THROW(
      run("st.shared.u32 [%s], %t; bar.warp.sync -1; xor.b32 %r1, %s, 4; ld.shared.u32 %r1, [%r1];",
          1, 32));
}

TEST_F(RaceCheck, FindsAMissingBarrierThatOneOfTheWarpDoesNotReplace)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "st.shared.u32 [%s], %t; setp.lt.u32 %p1, %t, 32; xor.b32 %r1, %s, 128;\n"
              "bar.warp.sync -1; @!%p1 ld.shared.u32 %r2, [%r1];");
}

/// The third warp writes, and has not ended when the barrier of the other two is complete.
TEST_F(RaceCheck, FindsAWarpThatTakesNoPartInTheBarrier)
{
  expect_race("reads what thread 64 of block 0 wrote, without synchronisation",
              "setp.ge.u32 %p1, %t, 64; @%p1 bra $writer; bar.sync 1, 64;\n"
              "mov.u32 %r1, buffer; setp.eq.u32 %p2, %t, 0; @%p2 ld.shared.u32 %r2, [%r1+256];\n"
              "bra $end;\n$writer: st.shared.u32 [%s], %t; nanosleep.u32 100;\n$end:",
              1, 96);
}

/// Thread 0 of each block adds to a sum.
constexpr char const* k_locked_sum =
    "setp.ne.u32 %p1, %t, 0; @%p1 bra $end; mov.u64 %d1, lock; mov.u64 %d2, sum;\n"
    "$try: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra $try;\n"
    "membar.gl; ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;\n"
    "membar.gl; UNLOCK\n$end:";

TEST_F(RaceCheck, KnowsALockOverBlocks)
{
  std::string body = k_locked_sum;
  body.replace(body.find("UNLOCK"), 6, "atom.global.exch.b32 %r1, [%d1], 0;");
  EXPECT_NO_THROW(run(body, 16));
}

TEST_F(RaceCheck, KnowsALockThatAVolatileStoreReleases)
{
  std::string body = k_locked_sum;
  body.replace(body.find("UNLOCK"), 6, "st.volatile.global.u32 [%d1], 0;");
  EXPECT_NO_THROW(run(body, 16));
}

TEST_F(RaceCheck, KnowsTheTicketOfTheLastBlock)
{
  EXPECT_NO_THROW(
      run("mov.u64 %d1, lock; mov.u64 %d2, parts; mul.wide.u32 %d3, %b, 4; add.s64 %d3, %d2, %d3;\n"
          "setp.ne.u32 %p1, %t, 5; @%p1 bra $written; st.global.u32 [%d3], 7;\n"
          "$written: bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra $wait; membar.gl;\n"
          "atom.global.add.u32 %r1, [%d1], 1; st.shared.u32 [buffer], %r1;\n"
          "$wait: bar.sync 0; ld.shared.u32 %r1, [buffer]; setp.ne.u32 %p1, %r1, 15;\n"
          "@%p1 bra $end; setp.gt.u32 %p1, %t, 15; @%p1 bra $end; mul.wide.u32 %d3, %t, 4;\n"
          "add.s64 %d3, %d2, %d3; st.global.u32 [%d3], %t;\n$end:",
          16));
}

/// Warps take turns, which end with nanosleep: of the two fences, the one after the store comes
/// after the volatile access.
TEST_F(RaceCheck, FindsAFenceThatComesAfterTheVolatileAccess)
{
  expect_race("reads what thread 0 of block 0 wrote, without synchronisation",
              "mov.u64 %d1, sum; mov.u64 %d2, lock; setp.eq.u32 %p1, %t, 0;\n"
              "setp.eq.u32 %p2, %t, 32; @%p2 bra $reader; @!%p1 bra $end;\n"
              "st.global.u32 [%o], 1; membar.gl;\n"
              "st.global.u32 [%d1], 5; nanosleep.u32 100; membar.gl; bra $end;\n"
              "$reader: ld.volatile.global.u32 %r1, [%d2]; nanosleep.u32 100;\n"
              "ld.global.u32 %r2, [%d1];\n$end:");
}

TEST_F(RaceCheck, TakesAWriteOfTheValueThatAnotherThreadHasWritten)
{
  EXPECT_NO_THROW(run("st.global.u32 [%o], 7;"));
  expect_race("writes what thread 0 of block 0 wrote, without synchronisation",
              "setp.eq.u32 %p1, %t, 0; selp.u32 %r1, 7, 8, %p1; st.global.u32 [%o], %r1;");
}

TEST_F(RaceCheck, FindsBlocksThatWriteBeforeTheyTakeATicket)
{
  expect_race("writes what thread 0 of block",
              "setp.ne.u32 %p1, %t, 0; @%p1 bra $end; mov.u64 %d1, lock; mov.u64 %d2, sum;\n"
              "atom.global.add.u32 %r1, [%d1], 1; st.global.u32 [%d2], %r1;\n$end:",
              16);
}

}  // namespace
}  // namespace fatlink::interpreter
