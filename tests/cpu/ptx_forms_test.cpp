// SPDX-License-Identifier: Apache-2.0
// Forms of scalar instructions that no device executes, or that this one does not: the messages.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

TEST_F(Ptx, RefusesMasksAndSpacesOfUnknownForm)
{
  auto const refuse = [&](char const* message, char const* body) {
    expect_failure(error_kind::refused, message, body);
  };
  refuse("neither .clamp nor .wrap", "bmsk.b32 %v, %t, 1;");
  refuse("neither .clamp nor .wrap", "vshl.u32.u32.u32 %v, %t, 1;");
  refuse("neither .launch_dependents nor .wait", "griddepcontrol;");
  refuse("not a state space of generic addresses", "isspacep.param::func %p1, %rd1;");
  refuse("not a state space of generic addresses", "isspacep.nowhere %p1, %rd1;");
  refuse("it has no .relu", "add.relu.s32 %v, %t, 1;");
  refuse("it has no .relu", "min.relu.u16x2 %v, %t, 1;");
  refuse(".sat is valid only for mad.hi.s32", "mad.lo.sat.s32 %v, %t, 1, 1;");
  refuse(".sat is valid only for mad24.hi.s32", "mad24.lo.sat.s32 %v, %t, 1, 1;");
}

TEST_F(Ptx, RefusesVideoInstructionsOfUnknownForm)
{
  auto const refuse = [&](char const* message, char const* body) {
    expect_failure(error_kind::refused, message, body);
  };
  refuse("its types are not 3 of .u32 and .s32", "vadd.u32.u32 %v, %t, 1;");
  refuse("its types are not 2 of .u32 and .s32", "vset.u32.b32.lt %v, %t, 1;");
  refuse("it has no comparison", "vset.u32.u32 %v, %t, 1;");
  refuse("unknown modifier .v9", "vadd.u32.u32.u32.v9 %v, %t, 1;");
  refuse(".h2 is not a byte or half of an operand", "vadd.u32.u32.u32 %v, %t.h2, 1;");
  refuse("the amount is not .u32", "vshr.u32.u32.s32.wrap %v, %t, 1;");
  refuse(".h45 does not select elements of an operand", "vadd2.u32.u32.u32 %v, %t.h45, 1, 0;");
  refuse(".b10 does not select elements of an operand", "vadd2.u32.u32.u32 %v, %t.b10, 1, 0;");
  refuse(".h1 selects too few elements", "vadd2.u32.u32.u32 %v, %t.h1, 1, 0;");
}

TEST_F(Ptx, RejectsOperandsThatNoVideoInstructionHas)
{
  auto const reject = [&](char const* message, char const* body) {
    expect_failure(error_kind::invalid, message, body);
  };
  reject("the operand is negated", "vadd.u32.u32.u32 %v, -%t, 1;");
  reject("the operand is negated", "vadd2.u32.u32.u32 %v, -%t, 1, 1;");
  reject("it has a part of the destination and a second operation",
         "vadd.u32.u32.u32.add %v.h0, %t, 1, 1;");
  reject("both the product and c are negated", "vmad.s32.s32.s32 %v, -%t, %t, -%t;");
  reject("an operand of .po is negated", "vmad.s32.s32.s32.po %v, -%t, %t, %t;");
  reject("c has a part", "vmad.s32.s32.s32 %v, %t, %t, %t.h0;");
  reject(".h0 is not a part of an operand", "add.u32 %v, %t.h0, 1;");
  reject("the operand is negated", "add.u32 %v, -%t, 1;");
  reject("the destination is not d|p", "lop3.or.b32 %v, %t, 1, 1, 3, %p1;");
}

TEST_F(Ptx, RefusesConversionsOfUnknownForm)
{
  auto const refuse = [&](char const* message, char const* body) {
    expect_failure(error_kind::refused, message, body);
  };
  refuse("its rounding is not .rn", "cvt.rz.satfinite.e4m3x2.f32 %h1, %f1, %f2;");
  refuse("it has no .satfinite", "cvt.rn.e4m3x2.f32 %h1, %f1, %f2;");
  refuse("its rounding is neither .rz nor .rp", "cvt.rm.ue8m0x2.f32 %h1, %f1, %f2;");
  refuse("its rounding is not .rna, .rn or .rz", "cvt.rm.tf32.f32 %v, %f1;");
  refuse("its rounding is neither .rn nor .rz", "cvt.rm.satfinite.f16.f32 %h1, %f1;");
  refuse("it has no .sat or no .s32", "cvt.pack.u16.s32 %v, %t, %t;");
  refuse("it has no .b32", "cvt.pack.sat.u8.s32 %v, %t, %t;");
  refuse(".xorsign needs .abs", "min.xorsign.f32 %f1, %f1, %f2;");
  refuse("too many operands", "min.f64 %fd1, %fd1, %fd2, %fd3;");
  refuse("it has no .sat", "add.sat.f32x2 %rd1, %rd1, %rd2;");
}

}  // namespace fatlink::interpreter
