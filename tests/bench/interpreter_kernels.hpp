// SPDX-License-Identifier: Apache-2.0
// PTX for interpreter_bench: the kernels k(in, out) for a block of 16×16 threads.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace fatlink::bench {

/// An instruction, or a few, whose time is measured.
struct loop {
  std::string_view name;
  std::string_view body;
};

// Registers: %t the number of the thread; %a, %b, %c the address of the thread's 4 bytes of `in`,
// of its 8 bytes of `in`, and of `out`; %s the address of its 4 bytes of shared memory.
inline constexpr std::array k_loops{
    loop{"load_global_32", "ld.global.f32 %f2, [%a];"},
    loop{"load_global_64", "ld.global.u64 %q, [%b];"},
    loop{"load_global_v4", "ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%v];"},
    loop{"load_global_8", "ld.global.u8 %h1, [%a];"},
    loop{"store_global_32", "st.global.f32 [%c], %f1;"},
    loop{"store_global_64", "st.global.u64 [%e], %q;"},
    loop{"load_shared_32", "ld.shared.f32 %f2, [%s];"},
    loop{"load_shared_broadcast", "ld.shared.f32 %f2, [buffer+4];"},
    loop{"load_shared_scattered", "ld.shared.f32 %f2, [%z];"},
    loop{"store_shared_32", "st.shared.f32 [%s], %f1;"},
    loop{"load_parameter", "ld.param.u64 %q, [in];"},
    loop{"load_local", "ld.local.f32 %f2, [stack];"},
    loop{"convert_u32_u64", "cvt.u64.u32 %q, %t;"},
    loop{"convert_s32_s64", "cvt.s64.s32 %q, %t;"},
    loop{"convert_u64_u32", "cvt.u32.u64 %r1, %q;"},
    loop{"convert_s32_f32", "cvt.rn.f32.s32 %f2, %t;"},
    loop{"convert_f32_s32", "cvt.rzi.s32.f32 %r1, %f1;"},
    loop{"convert_f32_f16", "cvt.rn.f16.f32 %h1, %f1;"},
    loop{"convert_f16_f32", "cvt.f32.f16 %f2, %x1;"},
    loop{"add_f16", "add.f16 %h1, %x1, %x2;"},
    loop{"fma_f16x2", "fma.rn.f16x2 %r1, %w1, %w2, %w2;"},
    loop{"mul_f16x2", "mul.f16x2 %r1, %w1, %w2;"},
    loop{"fma_bf16x2", "fma.rn.bf16x2 %r1, %w1, %w2, %w2;"},
    loop{"add_bf16", "add.rn.bf16 %h1, %x1, %x2;"},
    loop{"max_f16x2", "max.f16x2 %r1, %w1, %w2;"},
    loop{"fma_f32", "fma.rn.f32 %f2, %f1, %f1, %f2;"},
    loop{"fma_f64", "fma.rn.f64 %d2, %d1, %d1, %d2;"},
    loop{"add_f32", "add.f32 %f2, %f1, %f1;"},
    loop{"div_f32", "div.rn.f32 %f2, %f1, %f1;"},
    loop{"add_s32", "add.s32 %r1, %t, %t;"},
    loop{"mad_lo_s32", "mad.lo.s32 %r1, %t, %t, %t;"},
    loop{"mul_wide_u32", "mul.wide.u32 %q, %t, %t;"},
    loop{"add_s64", "add.s64 %q, %a, %b;"},
    loop{"setp", "setp.lt.s32 %p2, %t, 7;"},
    loop{"brev_b32", "brev.b32 %r1, %t;"},
    loop{"popc_b32", "popc.b32 %r1, %t;"},
    loop{"clz_b32", "clz.b32 %r1, %t;"},
    loop{"prmt_b32", "prmt.b32 %r1, %t, %t, 0x5410;"},
    loop{"read_tid", "mov.u32 %r1, %tid.x;"},
    loop{"ex2", "ex2.approx.f32 %f2, %f1;"},
    loop{"sin", "sin.approx.f32 %f2, %f1;"},
    loop{"shared_atomic_add_u32", "atom.shared.add.u32 %r1, [%s], %t;"},
    loop{"shared_atomic_add_f32", "red.shared.add.f32 [%s], %f1;"},
    loop{"global_atomic_add_u32", "red.global.add.u32 [%c], %t;"},
};

/// A kernel that executes the body 16 times in each of 128 turns of a loop.
std::string repeated(loop const& loop);
/// Sums 64 products of 16×16 matrices, as the tiled product does.
std::string matrix_product();
/// A filter of 9×9 numbers on a tile of 24×24 in shared memory.
std::string convolution();
/// A sum in shared memory, by halves, then in a warp by shuffles.
std::string reduction();

}  // namespace fatlink::bench
