// SPDX-License-Identifier: Apache-2.0
// The SIMD intrinsics of CUDA: one word for each, in the order of simd_reference.hpp.

namespace {

/// Writes the words of one thread.
class writer {
 public:
  __device__ explicit writer(unsigned* results) : next_(results) {}
  __device__ void put(unsigned value) { *next_++ = value; }

 private:
  unsigned* next_;
};

}  // namespace

/// operands: three words for each thread. results: `count` words for each thread.
extern "C" __global__ void simd_intrinsics(unsigned* results, unsigned const* operands,
                                           unsigned count)
{
  auto const thread = blockIdx.x * blockDim.x + threadIdx.x;
  auto const a = operands[3 * thread];
  auto const b = operands[3 * thread + 1];
  auto const c = operands[3 * thread + 2];
  writer out(results + thread * count);
  out.put(__vadd2(a, b));
  out.put(__vadd4(a, b));
  out.put(__vsub2(a, b));
  out.put(__vsub4(a, b));
  out.put(__vaddss2(a, b));
  out.put(__vaddus2(a, b));
  out.put(__vsubss2(a, b));
  out.put(__vsubus2(a, b));
  out.put(__vabsss2(a));
  out.put(__vnegss2(a));
  out.put(__vabs2(a));
  out.put(__vneg2(a));
  out.put(__vaddss4(a, b));
  out.put(__vaddus4(a, b));
  out.put(__vsubss4(a, b));
  out.put(__vsubus4(a, b));
  out.put(__vabsss4(a));
  out.put(__vnegss4(a));
  out.put(__vabs4(a));
  out.put(__vneg4(a));
  out.put(__vabsdiffs2(a, b));
  out.put(__vabsdiffs4(a, b));
  out.put(__vmaxs2(a, b));
  out.put(__vmaxs4(a, b));
  out.put(__vmins2(a, b));
  out.put(__vmins4(a, b));
  out.put(__vsads2(a, b));
  out.put(__vsads4(a, b));
  out.put(__vcmpges2(a, b));
  out.put(__vcmpges4(a, b));
  out.put(__vsetges2(a, b));
  out.put(__vsetges4(a, b));
  out.put(__vcmpgts2(a, b));
  out.put(__vcmpgts4(a, b));
  out.put(__vsetgts2(a, b));
  out.put(__vsetgts4(a, b));
  out.put(__vcmples2(a, b));
  out.put(__vcmples4(a, b));
  out.put(__vsetles2(a, b));
  out.put(__vsetles4(a, b));
  out.put(__vcmplts2(a, b));
  out.put(__vcmplts4(a, b));
  out.put(__vsetlts2(a, b));
  out.put(__vsetlts4(a, b));
  out.put(__vabsdiffu2(a, b));
  out.put(__vabsdiffu4(a, b));
  out.put(__vmaxu2(a, b));
  out.put(__vmaxu4(a, b));
  out.put(__vminu2(a, b));
  out.put(__vminu4(a, b));
  out.put(__vsadu2(a, b));
  out.put(__vsadu4(a, b));
  out.put(__vcmpgeu2(a, b));
  out.put(__vcmpgeu4(a, b));
  out.put(__vsetgeu2(a, b));
  out.put(__vsetgeu4(a, b));
  out.put(__vcmpgtu2(a, b));
  out.put(__vcmpgtu4(a, b));
  out.put(__vsetgtu2(a, b));
  out.put(__vsetgtu4(a, b));
  out.put(__vcmpleu2(a, b));
  out.put(__vcmpleu4(a, b));
  out.put(__vsetleu2(a, b));
  out.put(__vsetleu4(a, b));
  out.put(__vcmpltu2(a, b));
  out.put(__vcmpltu4(a, b));
  out.put(__vsetltu2(a, b));
  out.put(__vsetltu4(a, b));
  out.put(__vcmpeq2(a, b));
  out.put(__vcmpeq4(a, b));
  out.put(__vseteq2(a, b));
  out.put(__vseteq4(a, b));
  out.put(__vcmpne2(a, b));
  out.put(__vcmpne4(a, b));
  out.put(__vsetne2(a, b));
  out.put(__vsetne4(a, b));
  out.put(__vavgs2(a, b));
  out.put(__vavgs4(a, b));
  out.put(__vavgu2(a, b));
  out.put(__vavgu4(a, b));
  out.put(__vhaddu2(a, b));
  out.put(__vhaddu4(a, b));
  out.put(__viaddmax_s16x2(a, b, c));
  out.put(__vimax3_s16x2(a, b, c));
  out.put(__viaddmax_s16x2_relu(a, b, c));
  out.put(__vimax3_s16x2_relu(a, b, c));
  out.put(__viaddmin_s16x2(a, b, c));
  out.put(__vimin3_s16x2(a, b, c));
  out.put(__viaddmin_s16x2_relu(a, b, c));
  out.put(__vimin3_s16x2_relu(a, b, c));
  out.put(__viaddmax_u16x2(a, b, c));
  out.put(__vimax3_u16x2(a, b, c));
  out.put(__viaddmin_u16x2(a, b, c));
  out.put(__vimin3_u16x2(a, b, c));
}
