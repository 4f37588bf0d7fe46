// SPDX-License-Identifier: Apache-2.0
// Modifiers that ptxas refuses in an instruction are refused here, too: they would have no effect.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

class PtxModifiers : public Ptx {
 protected:
  void refuse(std::string const& message, std::string const& body)
  {
    expect_failure(fault::refused, message, body + " mov.u32 %v, 0;");
  }
};

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

}  // namespace fatlink::interpreter
