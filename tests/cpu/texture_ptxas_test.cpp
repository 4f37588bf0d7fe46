// SPDX-License-Identifier: Apache-2.0
// The device takes the forms of instructions on textures and surfaces that ptxas takes: one of each
// class in which they have differed. What it refuses for a reason of its own is not here.
#include "interpreter/machine.hpp"
#include "ptxas_fixture.hpp"

namespace fatlink::interpreter {
namespace {

class PtxasTextures : public conformance::Ptxas {
 protected:
  static std::string module_of(std::string const& instructions)
  {
    return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
           ".reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .f64 %fd<9>; "
           ".reg .u32 %u<9>; .reg .pred %p<9>;\nld.param.u64 %rd4, [p];\n" +
           instructions + "\nret;\n}\n";
  }

  static bool device_takes(std::string const& instruction)
  {
    auto const text = module_of(instruction);
    try {
      program program(std::make_shared<memory>(), std::vector<module_text>{{text, "a.ptx"}});
      (void)program.find("k");
      return true;
    } catch (code_error const&) {
      return false;
    }
  }
};

}  // namespace

TEST_F(PtxasTextures, TheDeviceTakesWhatPtxasTakes)
{
  std::string all;
  for (std::string const instruction :
       {"tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, %f5];",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5}];",
        "tex.v4.2d.f32.f32 {_, %f2, %r3, %r4}|%p1, [%rd4, {%f5, %r6}], {%r1, 1};",
        "tex.2d.v4.f32.f32 {%u1, %u2, %u3, %u4}, [%rd4, {%u5, %u6}];",
        "tex.level.a1d.v4.u32.s32 {%r1, %r2, %r3, %u4}, [%rd4, {%r1, %r2}], %r3;",
        "tex.grad.3d.v2.f16x2.f32 {%r1, %r2}, [%rd4, {%f5, %f5, %f5, %f5}], {%f1, %f1, %f1, %f1}, "
        "{%f1, %f1, %f1, %f1};",
        "tex.grad.a1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd4, {%r1, %f5}], {%f1}, {%f1};",
        "tld4.2d.r.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd4, {%f5, %f5}], {%r1, %r2};",
        "txq.num_samples.b32 %r1, [%rd4];",
        "txq.level.depth.b32 %f1, [%rd4], %r2;",
        "suq.array_size.b32 %r1, [%rd4];",
        "suld.b.b32.1d.trap %r1, [%rd4, %r1];",
        "suld.b.a2d.cv.v2.b64.clamp {%rd1, %rd2}, [%rd4, {%r1, %r2, %r3, %r4}];",
        "suld.b.3d.v4.b8.zero {%r1, %u2, %r3, %r4}, [%rd4, {%r1, %r2, %r3, %r4}];",
        "sust.b.1d.b32.wt.trap [%rd4, {%r1}], 0f3F800000;",
        "sust.p.a1d.wb.v2.b32.zero [%rd4, {%r1, %r2}], {%rd1, 5};",
        "sured.b.1d.add.u32.trap [%rd4, {%r1}], %rd1;",
        "sured.b.add.3d.u64.clamp [%rd4, {%r1, %r2, %r3, %r4}], %rd1;",
        "sured.b.min.2d.s64.zero [%rd4, {%r1, %r2}], %rd1;",
        "sured.b.or.1d.b32.trap [%rd4, {%r1}], %f1;",
        "sured.p.add.1d.b32.trap [%rd4, {1}], %fd1;"}) {
    EXPECT_TRUE(device_takes(instruction)) << instruction;
    all += instruction + "\n";
  }
  EXPECT_EQ(errors_of("sm_90", module_of(all)), "");
}

TEST_F(PtxasTextures, TheDeviceRefusesWhatPtxasRefuses)
{
  for (std::string const instruction :
       {"tex.2d.level.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f6}], %f7;",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5, %f5}];",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {1}];",
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%f1}];",
        "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5, %f5}];",
        "tex.1d.v4.s32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}];",
        "tex.1d.v2.f16x2.f32 {%f1, %f2}, [%rd4, {%f5}];",
        "tex.1d.v4.f32.f32 {_, _, _, _}, [%rd4, {%f5}];",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], {%f1};",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%fd4, {%f5}];",
        "tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], 1;",
        "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], %f5, %f5;",
        "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd4, {%f5}], {%f5, %f5}, {%f5, %f5};",
        "txq.level.array_size.b32 %r1, [%rd4], 0;",
        "txq.width.level.b32 %r1, [%rd4], 0;",
        "txq.level.width.b32 %r1, [%rd4], %f1;",
        "txq.width.b32 _, [%rd4];",
        "suq.num_samples.b32 %r1, [%rd4];",
        "suld.1d.b.b32.trap {%r1}, [%rd4, {%r1}];",
        "suld.b.1d.wb.b32.trap {%r1}, [%rd4, {%r1}];",
        "suld.b.1d.b32.trap {_}, [%rd4, {%r1}];",
        "suld.b.1d.v2.b8.trap {%h1, %r2}, [%rd4, {%r1}];",
        "suld.b.1d.b32.trap {%h1}, [%rd4, {%r1}];",
        "suld.b.1d.b32.trap {%r1}, [%rd4, {%f1}];",
        "suld.b.2d.b32.trap {%r1}, [%rd4, {%r1, %r1, %r1}];",
        "sust.b.1d.ca.b32.trap [%rd4, {%r1}], {%r1};",
        "sust.b.1d.b64.trap [%rd4, {%r1}], 0f3F800000;",
        "sust.p.1d.cv.b32.trap [%rd4, {%r1}], {%r1};",
        "sured.add.b.1d.u32.trap [%rd4, {%r1}], %r1;",
        "sured.b.add.1d.cg.u32.trap [%rd4, {%r1}], %r1;",
        "sured.b.add.1d.b32.trap [%rd4, {%r1}], %r1;",
        "sured.b.add.1d.s64.trap [%rd4, {%r1}], %rd1;",
        "sured.b.or.1d.u32.trap [%rd4, {%r1}], %r1;",
        "sured.b.or.1d.b64.trap [%rd4, {%r1}], %rd1;",
        "sured.b.min.1d.b32.trap [%rd4, {%r1}], %r1;",
        "sured.b.add.1d.u32.trap [%rd4, {%r1}], {%r1};",
        "sured.b.add.1d.u32.trap [%rd4, {%r1}], %f1;"}) {
    EXPECT_FALSE(device_takes(instruction)) << instruction;
    EXPECT_NE(errors_of("sm_90", module_of(instruction)), "") << instruction;
  }
}

}  // namespace fatlink::interpreter
