// SPDX-License-Identifier: Apache-2.0
#include "bench/interpreter_kernels.hpp"

namespace fatlink::bench {
namespace {

constexpr std::string_view k_begin = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<9>; .reg .b16 %h<9>, %x<9>; .reg .b32 %t, %s, %z, %n, %u<9>, %r<9>, %w<9>;
.reg .b64 %a, %b, %c, %e, %v, %q, %i, %o; .reg .f32 %f<9>; .reg .f64 %d<9>;
.shared .align 16 .b8 buffer[4096];
.local .align 8 .b8 stack[16];
mov.u32 %u1, %tid.x; mov.u32 %u2, %tid.y; mad.lo.s32 %t, %u2, 16, %u1;
ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
mul.wide.u32 %q, %t, 4; add.s64 %a, %i, %q; add.s64 %c, %o, %q;
mul.wide.u32 %q, %t, 8; add.s64 %b, %i, %q; add.s64 %e, %o, %q;
mul.wide.u32 %q, %t, 16; add.s64 %v, %i, %q;
mov.u32 %s, buffer; shl.b32 %r1, %u1, 2; add.s32 %z, %s, %r1;
shl.b32 %r1, %t, 2; add.s32 %s, %s, %r1;
ld.global.f32 %f1, [%a]; st.shared.f32 [%s], %f1; st.shared.f32 [%s+1024], %f1;
st.shared.f32 [%s+2048], %f1; st.shared.f32 [%s+3072], %f1; mov.f32 %f2, 0f00000000;
cvt.f64.f32 %d1, %f1; mov.f64 %d2, %d1; cvt.rn.f16.f32 %x1, %f1; mov.b16 %x2, %x1;
mov.b32 %w1, {%x1, %x2}; mov.b32 %w2, %w1;
st.local.f32 [stack], %f1;
mov.u32 %n, 0;
bar.sync 0;
)";

/// Ends a loop of `turns`, stores `result` and ends the kernel.
std::string ended(unsigned turns, std::string_view result)
{
  return "add.s32 %n, %n, 1; setp.lt.u32 %p1, %n, " + std::to_string(turns) +
         "; @%p1 bra $loop;\nst.global.f32 [%c], " + std::string(result) + ";\nret;\n}\n";
}

}  // namespace

std::string repeated(loop const& loop)
{
  std::string text(k_begin);
  text += "$loop:\n";
  for (unsigned i = 0; i < 16; ++i) text.append(loop.body).append(1, '\n');
  return text + ended(128, "%f1");
}

std::string matrix_product()
{
  std::string text(k_begin);
  // A row of the first matrix and a column of the second one.
  text +=
      "mov.u32 %r4, buffer; shl.b32 %r1, %u2, 6; add.s32 %r2, %r4, %r1; shl.b32 %r1, %u1, 2;\n"
      "add.s32 %r3, %r4, %r1;\n"
      "$loop:\nld.global.f32 %f3, [%a]; ld.global.f32 %f4, [%a+1024];\n"
      "st.shared.f32 [%s], %f3; st.shared.f32 [%s+1024], %f4; bar.sync 0;\n";
  for (unsigned k = 0; k < 16; ++k)
    text += "ld.shared.f32 %f3, [%r2+" + std::to_string(4 * k) + "]; ld.shared.f32 %f4, [%r3+" +
            std::to_string(1024 + 64 * k) + "]; fma.rn.f32 %f2, %f3, %f4, %f2;\n";
  return text + "bar.sync 0; add.s64 %a, %a, 1024;\n" + ended(64, "%f2");
}

std::string convolution()
{
  constexpr unsigned k_width = 24;  // of the tile
  std::string text(k_begin);
  text += "mad.lo.s32 %r1, %u2, " + std::to_string(k_width) +
          ", %u1; shl.b32 %r1, %r1, 2; mov.u32 %r2, buffer; add.s32 %r2, %r2, %r1;\n$loop:\n";
  for (unsigned y = 0; y < 9; ++y)
    for (unsigned x = 0; x < 9; ++x)
      text += "ld.shared.f32 %f3, [%r2+" + std::to_string(4 * (y * k_width + x)) +
              "]; ld.global.f32 %f4, [%i+" + std::to_string(4 * (9 * y + x)) +
              "]; fma.rn.f32 %f2, %f3, %f4, %f2;\n";
  return text + ended(16, "%f2");
}

std::string reduction()
{
  std::string text(k_begin);
  text += "$loop:\nld.global.f32 %f2, [%a]; st.shared.f32 [%s], %f2; bar.sync 0;\n";
  for (unsigned half = 128; half >= 32; half /= 2) {
    auto const label = "$skip" + std::to_string(half);
    text += "setp.ge.u32 %p2, %t, " + std::to_string(half) + "; @%p2 bra " + label +
            ";\nld.shared.f32 %f3, [%s]; ld.shared.f32 %f4, [%s+" + std::to_string(4 * half) +
            "]; add.f32 %f3, %f3, %f4; st.shared.f32 [%s], %f3;\n" + label + ": bar.sync 0;\n";
  }
  text += "setp.ge.u32 %p2, %t, 32; @%p2 bra $skip;\nld.shared.f32 %f2, [%s];\n";
  for (unsigned step = 16; step > 0; step /= 2)
    text += "mov.b32 %r1, %f2; shfl.sync.bfly.b32 %r2, %r1, " + std::to_string(step) +
            ", 31, -1; mov.b32 %f3, %r2; add.f32 %f2, %f2, %f3;\n";
  return text + "$skip: bar.sync 0;\n" + ended(64, "%f2");
}

}  // namespace fatlink::bench
