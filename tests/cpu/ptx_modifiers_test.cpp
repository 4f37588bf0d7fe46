// SPDX-License-Identifier: Apache-2.0
// Modifiers that ptxas refuses in an instruction are refused here, too: they would have no effect.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

class PtxModifiers : public Ptx {
 protected:
  void refuse(std::string const& message, std::string const& body)
  {
    expect_failure(error_kind::refused, message, body + " mov.u32 %v, 0;");
  }
};

TEST_F(PtxModifiers, BulkReductionsHaveNoMulticast)
{
  refuse("a reduction has no .multicast::cluster",
         "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
         ".multicast::cluster.add.u32 [%r1], [%r2], 16, [%r3];");
  refuse(".multicast::cluster is valid only for copies from global to shared memory",
         "cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster [%rd1], [%r2], 16, %h1;");
}

TEST_F(PtxModifiers, BulkCopiesAreCompletedInOneWay)
{
  refuse("not a known form of a bulk copy",
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.bulk_group "
         "[%r1], [%rd2], 16, [%r3];");
}

TEST_F(PtxModifiers, OnlyAtomicsOfHalvesHaveNoftz)
{
  constexpr auto k_message = ".noftz is valid only for .f16, .f16x2, .bf16 and .bf16x2";
  refuse(k_message, "red.global.add.noftz.f32 [%rd1], %f1;");
  refuse(k_message, "atom.global.add.noftz.u32 %v, [%rd1], 1;");
  refuse(k_message,
         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.u32 [%rd1], [%r1], 16;");
}

TEST_F(PtxModifiers, ProductsOfMatricesHaveTheTypesOfTheirShape)
{
  auto const refuse_types = [&](std::string const& body) {
    refuse("not a known shape with these types", body);
  };
  refuse_types(
      "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, "
      "{%r1,%r1}, {%r1,%r1}, {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1};");
  refuse_types(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f16.bf16.bf16.f16 {%r1,%r1,%r1,%r1}, "
      "{%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1};");
  refuse_types(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32 {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}, "
      "{%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}, "
      "{%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};");
  refuse_types(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r1,%r1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, "
      "{%f1,%f1,%f1,%f1};");
  refuse_types(
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1,%r1}, "
      "{%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};");
}

TEST_F(PtxModifiers, ProductsOfSmallElementsHaveOneLayout)
{
  expect_failure(error_kind::invalid, "the layout is not .row.col",
                 "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r1,%r1}, {%r1}, {%r1}, "
                 "{%r1,%r1};");
}

TEST_F(PtxModifiers, ProductsSaturateIntegersOnly)
{
  constexpr auto k_message = ".satfinite is valid only for s8, u8, s4 and u4";
  refuse(k_message,
         "mma.sync.aligned.m16n8k8.row.col.satfinite.f32.tf32.tf32.f32 {%f1,%f1,%f1,%f1}, "
         "{%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f1,%f1,%f1};");
  refuse(k_message,
         "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.satfinite {%fd1,%fd1}, {%fd1}, "
         "{%fd1}, {%fd1,%fd1};");
}

TEST_F(PtxModifiers, ProductsOfBitsHaveAnOperationAndOthersHaveNone)
{
  constexpr auto k_message =
      ".xor.popc and .and.popc are valid only for b1, which requires one of them";
  refuse(k_message,
         "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r1}, {%r1}, {%r1}, {%r1,%r1};");
  refuse(k_message,
         "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.and.popc {%r1,%r1}, {%r1}, {%r1}, "
         "{%r1,%r1};");
  refuse(k_message,
         "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1,%r1}, {%r1}, {%r1}, "
         "{%r1,%r1};");
  refuse(".popc without .xor or .and",
         "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc {%r1,%r1}, {%r1}, {%r1}, "
         "{%r1,%r1};");
}

TEST_F(PtxModifiers, ProductsOfF64AreRoundedToNearest)
{
  refuse(".rn is valid only for f64",
         "wmma.mma.sync.aligned.row.col.m8n8k32.rn.s32.s4.s4.s32 {%r1,%r1}, {%r1}, {%r1}, "
         "{%r1,%r1};");
}

TEST_F(PtxModifiers, ArithmeticOfHalvesHasTheModifiersOfItsInstruction)
{
  refuse("unknown modifier .sat", "abs.sat.f16 %h1, %h2;");
  refuse("unknown modifier .relu", "mul.relu.f16 %h1, %h2, %h3;");
  refuse("unknown modifier .NaN", "fma.rn.NaN.f16 %h1, %h2, %h3, %h4;");
  refuse("unknown modifier .sat", "min.sat.f16x2 %r1, %r2, %r3;");
  refuse("unknown modifier .sat", "add.sat.bf16 %h1, %h2, %h3;");
  refuse("unknown modifier .ftz", "max.ftz.bf16 %h1, %h2, %h3;");
  refuse("unknown modifier .ftz", "neg.ftz.bf16x2 %r1, %r2;");
  refuse("unknown modifier .ftz", "min.ftz.xorsign.abs.bf16 %h1, %h2, %h3;");
}

TEST_F(PtxModifiers, ArithmeticOfF64HasNoFlushAndNoSaturation)
{
  refuse("unknown modifier .ftz", "min.ftz.f64 %fd1, %fd2, %fd3;");
  refuse("unknown modifier .NaN", "max.NaN.f64 %fd1, %fd2, %fd3;");
  refuse("unknown modifier .sat", "mul.sat.f64 %fd1, %fd2, %fd3;");
  refuse("unknown modifier .ftz", "abs.ftz.f64 %fd1, %fd2;");
}

TEST_F(PtxModifiers, QuotientsAndRootsHaveNoSaturation)
{
  refuse("unknown modifier .sat", "div.rn.sat.f32 %f1, %f2, %f3;");
  refuse("unknown modifier .sat", "sqrt.rn.sat.f32 %f1, %f2;");
  refuse("unknown modifier .sat", "rcp.rn.sat.f64 %fd1, %fd2;");
}

TEST_F(PtxModifiers, ApproximationsFlushWhereTheInstructionSaysSo)
{
  refuse("unknown modifier .ftz", "tanh.approx.ftz.f32 %f1, %f2;");
  refuse("unknown modifier .ftz", "ex2.approx.ftz.f16 %h1, %h2;");
}

TEST_F(PtxModifiers, ComparisonsFlushF32AndF16Only)
{
  refuse("unknown modifier .ftz", "setp.lt.ftz.u32 %p1, %t, 1;");
  refuse("unknown modifier .ftz", "setp.lt.ftz.f64 %p1, %fd1, %fd2;");
  refuse("unknown modifier .ftz", "setp.lt.ftz.bf16 %p1, %h1, %h2;");
}

TEST_F(PtxModifiers, ConversionsOfIntegersAreNotRoundedToIntegers)
{
  refuse("unknown modifier .rni", "cvt.rni.u64.u32 %rd1, %t;");
  refuse("unknown modifier .rzi", "cvt.rzi.f32.s32 %f1, %t;");
  refuse("unknown modifier .rn", "cvt.rn.u64.u32 %rd1, %t;");
  refuse("unknown modifier .ftz", "cvt.ftz.u64.u32 %rd1, %t;");
  refuse("unknown modifier .relu", "cvt.relu.u64.u32 %rd1, %t;");
}

TEST_F(PtxModifiers, OnlyDp2aHasHalves)
{
  refuse("unknown modifier .hi", "dp4a.hi.u32.u32 %r1, %r2, %r3, %r4;");
  refuse("neither .lo nor .hi", "dp2a.u32.u32 %r1, %r2, %r3, %r4;");
}

TEST_F(PtxModifiers, AddressesInAClusterAreSharedOrGeneric)
{
  refuse("not a supported type", "mapa.global.u64 %rd1, %rd2, 0;");
  refuse("not a supported type", "getctarank.local.u64 %r1, %rd2;");
}

class PtxWholeWarp : public Ptx {
 protected:
  void expect_partial(std::string const& body)
  {
    expect_failure(
        error_kind::deadlock,
        "needs 32 threads, and the warp has 4: the others have ended, or the block's size "
        "is not a multiple of 32",
        ".shared .align 16 .b8 data[512]; mov.u32 %r1, data; " + body + " mov.u32 %v, 0;");
  }
};

TEST_F(PtxWholeWarp, MatricesAreLoadedByWholeWarps)
{
  expect_partial("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];");
}

TEST_F(PtxWholeWarp, MatricesAreStoredByWholeWarps)
{
  expect_partial("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};");
}

TEST_F(PtxWholeWarp, MatricesAreTransposedByWholeWarps)
{
  expect_partial("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;");
}

TEST_F(PtxWholeWarp, MatricesAreMultipliedByWholeWarps)
{
  expect_partial(
      "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6};");
  expect_partial(
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r5,%r6}, "
      "{%r1,%r2,%r3,%r4};");
}

TEST_F(PtxWholeWarp, FragmentsAreMovedByWholeWarps)
{
  expect_partial("wmma.load.a.sync.aligned.row.m8n8k32.shared.s4 {%r2}, [%r1];");
  expect_partial("wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%r1], {%r2,%r3};");
}

TEST_F(Ptx, LoadsMatricesFromSharedMemoryOnly)
{
  try {
    run("ld.param.u64 %rd1, [out]; ldmatrix.sync.aligned.m8n8.x1.b16 {%v}, [%rd1];", 32);
    ADD_FAILURE() << "no failure";
  } catch (code_error const& failed) {
    EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(error_kind::address));
    EXPECT_THAT(failed.what(), testing::HasSubstr("of shared memory"));
  }
}

}  // namespace fatlink::interpreter
