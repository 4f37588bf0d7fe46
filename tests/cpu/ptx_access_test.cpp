// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies of whole warps: registers and memory that overlap.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {
namespace {

values lanes(std::uint32_t first, std::uint32_t step)
{
  values result(32);
  for (std::uint32_t i = 0; i < 32; ++i) result[i] = first + i * step;
  return result;
}

/// The local array `a` of 32 words, whose word i is 1000 · (the thread + 1) + i.
constexpr char const* k_local_words =
    ".local .align 8 .b8 a[128]; .reg .b32 %i, %x; .reg .b64 %a, %p; mov.u64 %a, a;\n"
    "mov.u32 %i, 0; mov.u64 %p, %a;\n"
    "$l: mad.lo.u32 %x, %t, 1000, 1000; add.u32 %x, %x, %i; st.local.u32 [%p], %x;\n"
    "add.s64 %p, %p, 4; add.u32 %i, %i, 1; setp.lt.u32 %p1, %i, 32; @%p1 bra $l;\n"
    "mul.wide.u32 %p, %t, 4; add.s64 %p, %p, %a;\n";

TEST_F(Ptx, LoadsTheWordOfTheLanesNumberFromEachThreadsLocalMemory)
{
  EXPECT_EQ(run(std::string(k_local_words) + "ld.local.u32 %v, [%p];", 32), lanes(1000, 1001));
}

TEST_F(Ptx, StoresTheWordOfTheLanesNumberInEachThreadsLocalMemory)
{
  EXPECT_EQ(run(std::string(k_local_words) +
                    "st.local.u32 [%p], 7; cvta.local.u64 %p, %p; ld.u32 %v, [%p];",
                32),
            values(32, 7));
}

TEST_F(Ptx, LoadsAVectorIntoTheRegisterOfItsAddress)
{
  EXPECT_EQ(
      run({{"a.ptx", ".global .align 16 .u64 pair[2] = {11, 31};\n" +
                         kernel_of("mov.u64 %rd4, pair; ld.global.v2.u64 {%rd4, %rd5}, "
                                   "[%rd4]; add.s64 %rd6, %rd4, %rd5; cvt.u32.u64 %v, %rd6;")}},
          2),
      values(2, 42));
}

TEST_F(Ptx, LoadsAVectorFromSharedMemoryIntoTheRegisterOfItsAddress)
{
  EXPECT_EQ(run(".shared .align 8 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %t, 3;"
                "add.u32 %r1, %r1, %r2; add.u32 %r3, %t, 100; st.shared.v2.u32 [%r1], {%t, %r3};"
                "ld.shared.v2.u32 {%r1, %r2}, [%r1]; mad.lo.u32 %v, %r1, 1000, %r2;",
                32),
            lanes(100, 1001));
}

TEST_F(Ptx, UpdatesAVectorWhoseOldValuesAreItsOperands)
{
  EXPECT_EQ(
      run({{"a.ptx",
            ".global .align 8 .f32 pair[2] = {1.0, 2.0};\n" +
                kernel_of("mov.u64 %rd4, pair; mov.f32 %f1, 0f41200000; mov.f32 %f2, 0f41A00000;"
                          "atom.global.v2.f32.add {%f2, %f1}, [%rd4], {%f1, %f2};"
                          "ld.global.f32 %f3, [%rd4+4]; cvt.rzi.u32.f32 %v, %f3;")}},
          1),
      values(1, 22));
}

TEST_F(Ptx, AddressesOfLocalAndConstantMemoryMayHave32Bits)
{
  EXPECT_EQ(run(".local .align 4 .b8 stack[16]; .reg .b32 %at, %x; mov.u32 %at, stack;\n"
                "add.u32 %x, %t, 5; st.local.u32 [%at+4], %x; add.u32 %at, %at, 8;\n"
                "ld.local.u32 %v, [%at-4];"),
            (values{5, 6, 7, 8}));
  auto const table = std::string(".const .align 4 .b32 table[4] = {9, 8, 7, 6};\n");
  EXPECT_EQ(run({{"a.ptx", table + kernel_of(".reg .b32 %at; mov.u32 %at, table; "
                                             "mad.lo.u32 %at, %t, 4, %at; "
                                             "ld.const.u32 %v, [%at];")}},
                4),
            (values{9, 8, 7, 6}));
  expect_failure(error_kind::refused, "an address of 32 bits outside of .shared, .local and .const",
                 "ld.global.u32 %v, [%t];");
}

TEST_F(Ptx, RefusesACopyFromLocalMemory)
{
  expect_failure(error_kind::address, "in local memory, not in global memory",
                 ".shared .align 16 .b8 s[64]; .reg .b64 %x; alloca.u64 %rd4, 64;"
                 "mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%rd4], 16;"
                 "alloca.u64 %rd5, 65536; cp.async.wait_all; ld.shared.u32 %v, [%r1];");
}

TEST_F(Ptx, RefusesACopyToWhatIsNotInSharedMemory)
{
  expect_failure(error_kind::address, "shared memory",
                 "alloca.u64 %rd4, 64; sub.s64 %rd4, %rd4, 0x100000000000;"
                 "ld.param.u64 %rd1, [out]; cp.async.ca.shared.global [%rd4], [%rd1], 4;"
                 "alloca.u64 %rd5, 65536; cp.async.wait_all; mov.u32 %v, 0;");
}

TEST_F(Ptx, AsynchronousStoresHaveElementsOf4Or8Bytes)
{
  expect_failure(error_kind::refused, "not a supported type",
                 ".reg .b128 %q; st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [%r1], "
                 "%q, [%r2]; mov.u32 %v, 0;");
}

/// So that a kernel that forgets to wait gives wrong results.
TEST_F(Ptx, CopiesWhenTheThreadWaits)
{
  EXPECT_EQ(run(".shared .align 4 .b8 s[4]; mov.u32 %r1, s; mov.u32 %r2, 77; mov.u32 %r3, 1;"
                "ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r2; st.shared.u32 [%r1], %r3;"
                "cp.async.ca.shared.global [%r1], [%rd4], 4; ld.shared.u32 %r4, [%r1];"
                "cp.async.wait_all; ld.shared.u32 %r5, [%r1]; mad.lo.u32 %v, %r4, 100, %r5;",
                1),
            values(1, 177));
}

TEST_F(Ptx, CompletesTheFirstOfManyCopiesThatNoThreadWaitsFor)
{
  EXPECT_EQ(run(".shared .align 4 .b8 s[64]; mov.u32 %r1, s; mov.u32 %r2, 0; mov.u32 %r3, 77;"
                "ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r3; st.shared.u32 [%r1], 0;"
                "$l: cp.async.ca.shared.global [%r1], [%rd4], 4; cp.async.ca.shared.global [%r1], "
                "[%rd4], 4; cp.async.ca.shared.global [%r1], [%rd4], 4; cp.async.ca.shared.global "
                "[%r1], [%rd4], 4; cp.async.ca.shared.global [%r1], [%rd4], 4; "
                "cp.async.commit_group; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 900;"
                "@%p1 bra $l; ld.shared.u32 %v, [%r1];",
                1),
            values(1, 77));
}

TEST_F(Ptx, ProductsOfQuadsHaveTypesOfThatShape)
{
  expect_failure(error_kind::refused, "not a known shape with these types",
                 "mma.sync.aligned.m8n8k4.row.col.f64.f16.f16.f64 "
                 "{%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1}, {%r1,%r2}, {%r1,%r2}, "
                 "{%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1}; mov.u32 %v, 0;");
}

}  // namespace
}  // namespace fatlink::interpreter
