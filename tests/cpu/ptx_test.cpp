// SPDX-License-Identifier: Apache-2.0
// The execution of PTX written by hand: instructions that nvcc rarely emits.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

TEST_F(Ptx, BranchesByTable)
{
  EXPECT_EQ(run("targets: .branchtargets $a, $b, $c, $a;\nbrx.idx %t, targets;\n"
                "$a: mov.u32 %v, 10; bra $end;\n$b: mov.u32 %v, 20; bra.uni $end;\n"
                "$c: mov.u32 %v, 30;\n$end:"),
            (values{10, 20, 30, 10}));
  expect_failure(error_kind::address, "branches to entry 1 of a table of 1",
                 "targets: .branchtargets $a;\nbrx.idx %t, targets;\n$a: mov.u32 %v, 1;");
}

TEST_F(Ptx, ScopesHideNamesAndLabels)
{
  EXPECT_EQ(run("mov.u32 %v, 1; { .reg .b32 %v; mov.u32 %v, 5; bra $l; mov.u32 %v, 6; $l: }\n"
                "{ bra $l; mov.u32 %v, 7; $l: }"),
            (values{1, 1, 1, 1}));
}

TEST_F(Ptx, PredicatesGuardAndCombine)
{
  EXPECT_EQ(run("setp.gt.and.u32 %p1|%p2, %t, 1, %p0; setp.eq.u32 %p3, %t, 2;\n"
                "mov.u32 %v, 0; @%p2 add.u32 %v, %v, 0; not.pred %p4, %p3;\n"
                "@%p3 add.u32 %v, %v, 100; @!%p3 add.u32 %v, %v, 7; @%p4 add.u32 %v, %v, 1000;"),
            (values{1007, 1007, 100, 1007}));
}

TEST_F(Ptx, WideArithmeticCarries)
{
  // 64-bit (tid << 32 | 0xFFFFFFFF) + 1 in two halves: the upper half is tid + 1.
  EXPECT_EQ(run("add.cc.u32 %r1, 0xFFFFFFFF, 1; addc.u32 %v, %t, 0;"), (values{1, 2, 3, 4}));
  EXPECT_EQ(run("sub.cc.u32 %r1, 0, 1; subc.u32 %v, %t, 0;"), (values{0xFFFFFFFF, 0, 1, 2}));
  EXPECT_EQ(run("mad.lo.cc.u32 %r1, 0xFFFFFFFF, 1, 1; madc.hi.u32 %v, 0x80000000, %t, 0;"),
            (values{1, 1, 2, 2}));
}

/// ptxas folds each of these to the value expected here.
TEST_F(Ptx, SubtractionLeavesTheCarryThatHardwareLeaves)
{
  EXPECT_EQ(run("sub.cc.u32 %r1, 5, 7; addc.u32 %v, %t, 0;"), (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sub.cc.u32 %r1, 7, 5; addc.u32 %v, %t, 0;"), (values{1, 2, 3, 4}));
  EXPECT_EQ(run("add.cc.u32 %r1, 5, 7; subc.u32 %v, 100, 1;"), values(4, 98));
  EXPECT_EQ(run("add.cc.u32 %r1, 0xFFFFFFFF, 7; subc.u32 %v, 100, 1;"), values(4, 99));
  EXPECT_EQ(run("sub.cc.u32 %r1, 5, 7; madc.lo.u32 %v, %t, 3, 10;"), (values{10, 13, 16, 19}));
  EXPECT_EQ(run("mad.lo.cc.u32 %r1, 1, 1, 1; subc.cc.u32 %r2, 0, 0; addc.u32 %v, %t, 0;"),
            (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sub.cc.u64 %rd4, 5, 7; subc.u64 %rd5, 100, 1; cvt.u32.u64 %v, %rd5;"),
            values(4, 98));
}

TEST_F(Ptx, BitInstructionsFollowTheirFormulas)
{
  EXPECT_EQ(run("lop3.b32 %v, %t, 0xC, 0xA, 0xE8;"), (values{8, 8, 10, 10}));
  EXPECT_EQ(run("prmt.b32.b4e %v, 0x33221100, 0x77665544, %t;"),
            (values{0x55667700, 0x66770011, 0x77001122, 0x00112233}));
  EXPECT_EQ(run("prmt.b32 %v, 0x80, 0, 0x8888;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("shl.b32 %v, 1, 40;"), values(4, 0));
  EXPECT_EQ(run("shr.s32 %v, 0x80000000, 99;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("bfe.s32 %v, 0x00000F00, 8, 4;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("bfind.s32 %v, -1;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("dp4a.s32.s32 %v, 0x01FF02FE, 0x01010101, %t;"), (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sad.u32 %v, %t, 2, 100;"), (values{102, 101, 100, 101}));
  EXPECT_EQ(run("mul24.lo.s32 %v, 0x00FFFFFF, 5;"), values(4, 0xFFFFFFFB));
}

/// Up to PTX 6.3. The threads that execute the instruction are the members.
TEST_F(Ptx, ShufflesAndVotesWithoutSync)
{
  auto const old = [](std::string const& body) {
    return ".version 6.3\n.target sm_70\n.address_size 64\n" +
           kernel_of("mov.u32 %v, 77; setp.lt.u32 %p1, %t, 3; " + body);
  };
  auto const of = [&](std::string const& body) { return run({{"a.ptx", old(body)}}, 4); };
  EXPECT_EQ(of("shfl.bfly.b32 %v, %t, 1, 31;"), (values{1, 0, 3, 2}));
  EXPECT_EQ(of("@%p1 shfl.up.b32 %v|%p2, %t, 1, 0;"), (values{0, 0, 1, 77}));
  EXPECT_EQ(of("@%p1 vote.ballot.b32 %v, %p1;"), (values{7, 7, 7, 77}));
  EXPECT_EQ(of("vote.all.pred %p2, %p1; selp.u32 %v, 1, 2, %p2;"), values(4, 2));
  EXPECT_EQ(of("@%p1 vote.all.pred %p2, %p1; @%p1 selp.u32 %v, 1, 2, %p2;"), (values{1, 1, 1, 77}));
  EXPECT_EQ(of("vote.uni.pred %p2, !%p1; selp.u32 %v, 1, 2, %p2;"), values(4, 2));
  for (auto const* text : {"shfl.idx.b32 %v, %t, 1, 31;", "vote.any.pred %p2, %p1;"})
    expect_failure(error_kind::invalid, "it has no .sync, which PTX 6.4 and newer need", text);
}

TEST_F(Ptx, DivisionByZeroGivesAllOnes)
{
  EXPECT_EQ(run("div.u32 %v, 7, %t;"), (values{0xFFFFFFFF, 7, 3, 2}));
  EXPECT_EQ(run("rem.s32 %v, 7, %t;"), (values{0xFFFFFFFF, 0, 1, 1}));
  EXPECT_EQ(run("div.s32 %v, 0x80000000, -1;"), values(4, 0x80000000));
}

TEST_F(Ptx, RoundsInEveryDirection)
{
  auto const third = [&](char const* mode) {
    return run(std::string("div.") + mode +
               ".f32 %f1, 0f3F800000, 0f40400000; mov.b32 %v, %f1;")[0];
  };
  EXPECT_EQ(third("rn"), 0x3EAAAAABU);
  EXPECT_EQ(third("rz"), 0x3EAAAAAAU);
  EXPECT_EQ(third("rm"), 0x3EAAAAAAU);
  EXPECT_EQ(third("rp"), 0x3EAAAAABU);
  EXPECT_EQ(run("fma.rz.f32 %f1, 0fBF800000, 0f3F800000, 0f33000000; mov.b32 %v, %f1;")[0],
            0xBF7FFFFFU);
  EXPECT_EQ(run("cvt.rpi.s32.f32 %v, 0fC0200000;")[0], 0xFFFFFFFEU);
  EXPECT_EQ(run("cvt.sat.u8.s32 %v, 300;")[0], 255U);
  EXPECT_EQ(run("mul.ftz.sat.f32 %f1, 0f40400000, 0f3F800000; mov.b32 %v, %f1;")[0], 0x3F800000U);
}

/// The reciprocal of a divisor above 2^126 is a denormal, which div.approx flushes.
TEST_F(Ptx, ApproximateDivisionFlushesTheReciprocalOfLargeDivisors)
{
  auto const quotient = [&](std::string const& division, std::string const& a,
                            std::string const& b) {
    return run(division + ".f32 %f1, " + a + ", " + b + "; mov.b32 %v, %f1;")[0];
  };
  auto const* const above = "0f7E800001";  // the number after 2^126
  for (std::string const division : {"div.approx", "div.approx.ftz"}) {
    EXPECT_EQ(quotient(division, "0f7E800000", above), 0U);
    EXPECT_EQ(quotient(division, "0fFF000000", above), 0x80000000U);
    EXPECT_EQ(quotient(division, "0f7F800000", above), 0x7FFFFFFFU);
    EXPECT_EQ(quotient(division, "0f7E800000", "0f7E800000"), 0x3F800000U);
  }
  EXPECT_EQ(quotient("div.full", "0f7F000000", "0f7F000000"), 0x3F800000U);
}

/// atom.add.f32 flushes denormals in global memory, and keeps them in shared memory.
TEST_F(Ptx, AtomicAdditionKeepsDenormalsInSharedMemory)
{
  auto const add = [](std::string const& address) {
    return ".shared .align 8 .b32 s; mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5;"
           "ld.param.u64 %rd7, [out]; mov.b32 %r1, 1; st.b32 [" +
           address + "], %r1; mov.b32 %f1, 0f00000002; atom.add.f32 %f2, [" + address +
           "], %f1; ld.b32 %v, [" + address + "];";
  };
  EXPECT_EQ(run(add("%rd6"), 1), values{3});
  EXPECT_EQ(run(add("%rd7"), 1), values{0});
}

TEST_F(Ptx, AtomicExtremesOfHalvesTakeMinusZeroForLess)
{
  EXPECT_EQ(
      run({{"a.ptx", ".global .align 8 .b16 zeros[4] = {0, 0x8000, 0, 0x8000};\n" +
                         kernel_of("mov.u64 %rd4, zeros; mov.b16 %h1, 0x8000; mov.b16 %h2, 0;"
                                   "red.global.min.noftz.v2.f16 [%rd4], {%h1, %h2};"
                                   "red.global.max.noftz.v2.f16 [%rd4+4], {%h1, %h2};"
                                   "ld.global.v2.u32 {%r1, %r2}, [%rd4]; add.u32 %v, %r1, %r2;")}},
          1),
      values{0x80008000});
}

TEST_F(Ptx, PacksAndUnpacksRegisters)
{
  EXPECT_EQ(run("mov.b64 %rd4, {%t, 7}; mov.b64 {%r1, %r2}, %rd4; add.u32 %v, %r1, %r2;"),
            (values{7, 8, 9, 10}));
  EXPECT_EQ(run("mov.b32 {%h1, %h2}, 0x00050003; mov.b32 %v, {%h2, %h1};"), values(4, 0x00030005));
}

TEST_F(Ptx, VariablesHaveTheirFirstValues)
{
  auto const text = ".global .u32 table[3] = {7, 8, 9};\n.const .u64 where = generic(table)+4;\n" +
                    kernel_of("ld.const.u64 %rd5, [where]; ld.u32 %v, [%rd5];");
  EXPECT_EQ(run({{"a.ptx", text}}, 2), (values{8, 8}));
}

TEST_F(Ptx, NamesOfSharedVariablesStateTheirSpace)
{
  auto const body =
      "st.shared.u32 [pad], 9; st.u32 [v+4], 5; ld.u32 %r1, [v+4];"
      "atom.add.u32 %r2, [v+4], 1; red.add.u32 [v+4], 1; ld.shared.u32 %r3, [v+4];"
      "mad.lo.u32 %v, %r1, 10, %r2; mad.lo.u32 %v, %v, 10, %r3;";
  EXPECT_EQ(run(std::string(".shared .b32 pad[4]; .shared .align 8 .b32 v[4];") + body, 1),
            values(1, 557));
  auto const at_module_level =
      ".shared .b32 pad[4];\n.shared .align 8 .b32 v[4];\n" + kernel_of(body);
  EXPECT_EQ(run({{"a.ptx", at_module_level}}, 1), values(1, 557));
}

TEST_F(Ptx, TheFourthElementOfASpecialRegisterIsZero)
{
  std::string body = "mov.u32 %v, 0;";
  for (auto const* name : {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid",
                           "%cluster_ctaid", "%cluster_nctaid"})
    body += std::string("mov.u32 %r1, ") + name + ".w; or.b32 %v, %v, %r1;";
  EXPECT_EQ(run(body), values(4, 0));
  expect_failure(error_kind::refused, "laneid.w", "mov.u32 %v, %laneid.w;");
}

TEST_F(Ptx, FunctionsThatNothingCallsNeedNoDefinition)
{
  EXPECT_EQ(
      run({{"a.ptx", ".extern .func other(.param .b32 x);\n" + kernel_of("mov.u32 %v, 3;")}}, 2),
      values(2, 3));
  expect_failure(error_kind::unresolved, "cnpGetLastError is used by a.ptx and defined by no input",
                 {{"a.ptx", ".extern .func cnpGetLastError();\n" +
                                kernel_of("mov.u32 %v, 3; call cnpGetLastError;")}});
}

TEST_F(Ptx, ConstantMemoryIsNotWritten)
{
  expect_failure(error_kind::address, "in constant memory (fixed)",
                 {{"a.ptx", ".const .u32 fixed = 1;\n" +
                                kernel_of("mov.u64 %rd5, fixed; st.u32 [%rd5], 2;")}});
}

TEST_F(Ptx, CommentsEndAtTheirOwnDelimiter)
{
  EXPECT_EQ(run("mov.u32 %v, 1; /*/ mov.u32 %v, 2; */ // mov.u32 %v, 3;\n"), values(4, 1));
}

TEST_F(Ptx, EndlessAndDeadlockedThreadsAreStopped)
{
  expect_failure(error_kind::endless, "is still running after 5000 instructions",
                 {{"a.ptx", kernel_of("$l: bra $l;")}}, 5000);
  expect_failure(error_kind::deadlock,
                 "waits at a barrier that other threads of the block never reach",
                 "setp.eq.u32 %p1, %t, 0; @%p1 bar.sync 0, 64; mov.u32 %v, 1;");
  expect_failure(error_kind::deadlock, "waits for lanes of its mask that never reach",
                 "setp.lt.u32 %p1, %t, 2; mov.u32 %v, 1; @%p1 bar.warp.sync 0xF; "
                 "@!%p1 bar.sync 0, 64;");
}

TEST_F(Ptx, RecursionWithoutEndIsStopped)
{
  expect_failure(
      error_kind::address, "calls too deep",
      {{"a.ptx", ".visible .func g() { call g; ret; }\n" + kernel_of("call g; mov.u32 %v, 1;")}});
}

TEST_F(Ptx, LanesMeetAgainAfterTheyBranched)
{
  // Each lane loops tid times; at the end all are there.
  EXPECT_EQ(run("mov.u32 %r1, 0; $l: setp.ge.u32 %p1, %r1, %t; @%p1 bra $e; add.u32 %r1, %r1, 1; "
                "bra $l; $e: activemask.b32 %v;"),
            values(4, 0xF));
}

}  // namespace fatlink::interpreter
