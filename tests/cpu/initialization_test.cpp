// SPDX-License-Identifier: Apache-2.0
// Which reads of shared memory count as uninitialised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "launched_kernel.hpp"

namespace fatlink::interpreter {
namespace {

/// A kernel k(out) with 4096 bytes of shared memory: %t is the thread, %s the address of the
/// thread's word of it, %g the generic one, %o that of `out`.
std::string initialization_kernel(std::string const& body, std::string const& attributes = "")
{
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out) " +
         attributes +
         "\n{\n.reg .pred %p<9>; .reg .b32 %t, %s, %r<9>; .reg .b64 %g, %o, %d<9>;\n"
         ".reg .f32 %f<9>; .shared .align 16 .b8 buffer[4096];\n"
         "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mov.u32 %s, buffer;\n"
         "shl.b32 %r1, %t, 2; add.s32 %s, %s, %r1; cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;\n" +
         body + "\nret;\n}\n";
}

class Initialization : public testing::Test {
 protected:
  static launch_options options()
  {
    return {.grid = {2, 1, 1}, .block = {64, 1, 1}, .check_initialization = true};
  }

  static void expect_accepted(std::string const& body)
  {
    EXPECT_NO_THROW(launch_kernel(initialization_kernel(body), options())) << body;
  }

  static void expect_found(std::string const& message, std::string const& body,
                           launch_options const& settings = options(),
                           std::string const& attributes = "")
  {
    try {
      (void)launch_kernel(initialization_kernel(body, attributes), settings);
      ADD_FAILURE() << "nothing is reported: " << body;
    } catch (code_error const& failed) {
      EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(error_kind::uninitialized));
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
    }
  }
};

TEST_F(Initialization, FindsALoadBeforeAStoreWithItsPlaceAndThread)
{
  expect_found(
      "kernel k, block (0,0,0) thread (0,0,0): ld.shared.u32 %r2, [%s] (a.ptx:10): reads 4 bytes "
      "at "
      "0x0 of shared memory, where nothing has written byte 0x0",
      "ld.shared.u32 %r2, [%s];");
}

TEST_F(Initialization, TakesALoadAfterAStoreOfAnyThread)
{
  expect_accepted("st.shared.u32 [%s], %t; ld.shared.u32 %r2, [%s];");
  expect_accepted(
      "st.shared.u32 [%s], %t; bar.sync 0; xor.b32 %s, %s, 128; ld.shared.u32 %r2, [%s];");
}

TEST_F(Initialization, FindsTheThreadWhoseWordIsMissing)
{
  expect_found("thread (33,0,0): ld.shared.u32",
               "setp.ne.u32 %p1, %t, 33; @%p1 st.shared.u32 [%s], %t; bar.sync 0;\n"
               "ld.shared.u32 %r2, [%s];");
}

TEST_F(Initialization, FindsOneByteOfAVector)
{
  expect_found("reads 8 bytes at 0x0 of shared memory, where nothing has written byte 0x7",
               "setp.ne.u32 %p1, %t, 0; @%p1 exit; st.shared.u32 [%s], %t; "
               "st.shared.u16 [%s+4], %r1;\n"
               "st.shared.u8 [%s+6], %t; ld.shared.v2.u32 {%r2, %r3}, [%s];");
}

TEST_F(Initialization, FindsGenericLoads)
{
  expect_found("reads 2 bytes at 0x0 of shared memory", "ld.u16 %r2, [%g];");
  expect_accepted("st.u32 [%g], %t; ld.u32 %r2, [%g];");
}

TEST_F(Initialization, FindsVolatileLoads)
{
  expect_found("reads 4 bytes at 0x0", "ld.volatile.shared.u32 %r2, [%s];");
}

TEST_F(Initialization, FindsAtomicsThatAddToNothing)
{
  expect_found("atom.shared.add.u32", "atom.shared.add.u32 %r2, [%s], 1;");
  expect_found("red.shared.add.u32", "red.shared.add.u32 [%s], 1;");
}

TEST_F(Initialization, TakesAnExchangeAsAStore)
{
  expect_accepted("atom.shared.exch.b32 %r2, [%s], 1; ld.shared.u32 %r3, [%s];");
}

TEST_F(Initialization, TakesAsynchronousCopiesAsStores)
{
  expect_accepted(
      "shl.b32 %r2, %t, 2; cvt.u64.u32 %d1, %r2; add.u64 %d1, %o, %d1;\n"
      "cp.async.ca.shared.global [%s], [%d1], 4; cp.async.wait_all;\n"
      "ld.shared.u32 %r3, [%s];");
}

TEST_F(Initialization, TakesStoresOfMatrices)
{
  expect_accepted(
      "mov.u32 %r3, buffer; and.b32 %r4, %t, 7; shl.b32 %r4, %r4, 4;\n"
      "add.u32 %r3, %r3, %r4; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%t};\n"
      "bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];");
}

TEST_F(Initialization, FindsMatricesThatNothingStored)
{
  expect_found("ldmatrix",
               "mov.u32 %r3, buffer;\n"
               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];");
}

TEST_F(Initialization, ForgetsWhatTheBlockBeforeHasWritten)
{
  auto settings = options();
  settings.in_order = true;
  expect_found("block (1,0,0) thread (0,0,0)",
               "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; @%p1 st.shared.u32 [%s], %t;\n"
               "ld.shared.u32 %r2, [%s];",
               settings);
}

TEST_F(Initialization, ChecksDynamicSharedMemory)
{
  auto settings = options();
  settings.shared_bytes = 1024;
  expect_found("reads 4 bytes at 0x1000 of shared memory", "ld.shared.u32 %r2, [%s+4096];",
               settings);
}

TEST_F(Initialization, ChecksTheSharedMemoryOfOtherBlocksOfTheCluster)
{
  std::string const address =
      "mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1;\n"
      "mapa.shared::cluster.u32 %r4, %s, %r3;\n";
  expect_found("ld.shared::cluster.u32", address + "ld.shared::cluster.u32 %r5, [%r4];", options(),
               ".reqnctapercluster 2, 1, 1");
  EXPECT_NO_THROW(launch_kernel(
      initialization_kernel(address + "st.shared::cluster.u32 [%r4], %t;\n"
                                      "barrier.cluster.arrive; barrier.cluster.wait;\n"
                                      "ld.shared.u32 %r5, [%s];",
                            ".reqnctapercluster 2, 1, 1"),
      options()));
}

TEST_F(Initialization, WorksBesideTheRaceCheck)
{
  auto settings = options();
  settings.check_races = true;
  expect_found("reads 4 bytes at 0x0", "ld.shared.u32 %r2, [%s];", settings);
  EXPECT_NO_THROW(launch_kernel(
      initialization_kernel("st.shared.u32 [%s], %t; bar.sync 0; xor.b32 %s, %s, 128;\n"
                            "ld.shared.u32 %r2, [%s];"),
      settings));
}

TEST_F(Initialization, IsNotCheckedUnlessAsked)
{
  auto settings = options();
  settings.check_initialization = false;
  EXPECT_NO_THROW(launch_kernel(initialization_kernel("ld.shared.u32 %r2, [%s];"), settings));
}

}  // namespace
}  // namespace fatlink::interpreter
