// SPDX-License-Identifier: Apache-2.0
// Handlers that are compiled for several levels of x86-64 compute the same bits at each of them,
// for all lanes at once and for some. Operands are random numbers and extreme ones.
#include "interpreter/execution/cpu_level.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "interpreter/machine.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint32_t k_level_threads = 1024;
constexpr std::size_t k_operands = 3;
constexpr std::array<std::uint64_t, 24> k_extremes{
    0x0000000000000000, 0x8000000080008000, 0x3C003C003F803C00, 0x7BFF7BFF7F7FFFFF,
    0x0001000100000001, 0x8001800180000001, 0x03FF03FF007FFFFF, 0x0400040000800000,
    0x7C007C007F800000, 0xFC00FC00FF800000, 0x7E007E007FC00000, 0x7D007D007FA00001,
    0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF8000000000001, 0x7FF0000000000001, 0x0010000000000000, 0x000FFFFFFFFFFFFF,
    0x3FF0000000000000, 0x3F8000003F800000, 0x4F0000004F000000, 0xCF000000CF000000};

std::vector<std::uint64_t> operands()
{
  std::vector<std::uint64_t> result;
  std::mt19937_64 random(19);  // NOLINT(cert-msc51-cpp): the same operands each time
  for (std::size_t i = 0; i < k_level_threads * k_operands; ++i)
    result.push_back(random() % 2 == 0 ? random() : k_extremes[random() % k_extremes.size()]);
  return result;
}

/// A kernel k(in, out) that executes `instruction` for all threads, then for those with an odd
/// number.
std::string kernel_of_instruction(std::string const& instruction)
{
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p, %q; .reg .b16 %h<9>; .reg .b32 %t, %o, %r<9>; .reg .b64 %x, %y, %d<9>;\n"
         ".shared .align 16 .b8 buffer[16384];\n"
         "mov.u32 %t, %tid.x; ld.param.u64 %x, [in]; ld.param.u64 %y, [out];\n"
         "mul.wide.u32 %d1, %t, 24; add.s64 %x, %x, %d1; mul.wide.u32 %d1, %t, 8;\n"
         "add.s64 %y, %y, %d1; ld.global.u64 %d1, [%x]; ld.global.u64 %d2, [%x+8];\n"
         "ld.global.u64 %d3, [%x+16]; mov.u64 %d4, 0;\n"
         "cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2; cvt.u32.u64 %r3, %d3; mov.u32 %r4, 0;\n"
         "cvt.u16.u64 %h1, %d1; cvt.u16.u64 %h2, %d2; cvt.u16.u64 %h3, %d3; mov.u16 %h4, 0;\n"
         "setp.ne.u32 %q, %t, %t; and.b32 %o, %t, 1; setp.eq.u32 %p, %o, 1;\n"
         "shl.b32 %o, %t, 4; mov.u32 %r5, buffer; add.s32 %o, %o, %r5;\n" +
         instruction +
         "\nmov.u64 %d5, %d4; mov.u32 %r5, %r4; mov.u16 %h5, %h4;\n"
         "mov.u64 %d1, %d2; mov.u32 %r1, %r2; mov.u16 %h1, %h2;\n@%p " +
         instruction +
         "\ncvt.u64.u32 %d6, %r4; cvt.u64.u16 %d7, %h4; mul.lo.u64 %d4, %d4, 31;\n"
         "add.s64 %d4, %d4, %d5; mad.lo.u64 %d4, %d4, 31, %d6; cvt.u64.u32 %d6, %r5;\n"
         "mad.lo.u64 %d4, %d4, 31, %d6; cvt.u64.u16 %d6, %h5; mad.lo.u64 %d4, %d4, 31, %d6;\n"
         "mad.lo.u64 %d4, %d4, 31, %d7; @%q add.s64 %d4, %d4, 1;\n"
         "st.global.u64 [%y], %d4;\nret;\n}\n";
}

class CpuLevel : public testing::TestWithParam<char const*> {
 protected:
  ~CpuLevel() override { use_level_3(true); }

  static std::vector<std::uint64_t> run(std::string const& text)
  {
    auto const device_memory = std::make_shared<memory>();
    module_text const module{text, "a.ptx"};
    program program(device_memory, {&module, 1});
    auto const values = operands();
    auto const in = device_memory->allocate(values.size() * sizeof(std::uint64_t));
    auto const out = device_memory->allocate(k_level_threads * sizeof(std::uint64_t));
    std::memcpy(in.data, values.data(), in.size);
    std::array const arguments{std::as_bytes(std::span(&in.base, 1)),
                               std::as_bytes(std::span(&out.base, 1))};
    launch(program, program.find("k"), {.block = {k_level_threads, 1, 1}}, arguments);
    std::vector<std::uint64_t> result(k_level_threads);
    std::memcpy(result.data(), out.data, out.size);
    return result;
  }
};

TEST_P(CpuLevel, ComputesTheSameBits)
{
  if (!has_level_3) GTEST_SKIP() << "the host has one level";
  auto const text = kernel_of_instruction(GetParam());
  auto const fast = run(text);
  use_level_3(false);
  EXPECT_FALSE(has_level_3);
  EXPECT_EQ(run(text), fast);
}

// d1 to d3, r1 to r3 and h1 to h3 are operands of 64, 32 and 16 bits; d4, r4 and h4 are results.
INSTANTIATE_TEST_SUITE_P(
    Of, CpuLevel,
    testing::Values(
        "fma.rn.f32 %r4, %r1, %r2, %r3;", "fma.rz.ftz.sat.f32 %r4, %r1, %r2, %r3;",
        "fma.rn.f64 %d4, %d1, %d2, %d3;", "fma.rp.f64 %d4, %d1, %d2, %d3;",
        "add.f32 %r4, %r1, %r2;", "add.ftz.f32 %r4, %r1, %r2;", "add.f64 %d4, %d1, %d2;",
        "mul.f64 %d4, %d1, %d2;", "div.rn.f32 %r4, %r1, %r2;", "div.rm.f64 %d4, %d1, %d2;",
        "sqrt.rn.f32 %r4, %r1;", "min.f32 %r4, %r1, %r2;", "max.NaN.f32 %r4, %r1, %r2;",
        "max.f64 %d4, %d1, %d2;", "add.f16 %h4, %h1, %h2;", "sub.f16x2 %r4, %r1, %r2;",
        "mul.f16x2 %r4, %r1, %r2;", "mul.ftz.sat.f16x2 %r4, %r1, %r2;",
        "fma.rn.f16 %h4, %h1, %h2, %h3;", "fma.rn.f16x2 %r4, %r1, %r2, %r3;",
        "fma.rn.relu.f16x2 %r4, %r1, %r2, %r3;", "fma.rn.bf16x2 %r4, %r1, %r2, %r3;",
        "fma.rn.bf16 %h4, %h1, %h2, %h3;", "add.rn.bf16x2 %r4, %r1, %r2;",
        "mul.rn.bf16 %h4, %h1, %h2;", "min.f16x2 %r4, %r1, %r2;", "max.NaN.bf16x2 %r4, %r1, %r2;",
        "max.ftz.f16 %h4, %h1, %h2;", "cvt.f32.f16 %r4, %h1;", "cvt.rn.f16.f32 %h4, %r1;",
        "cvt.rz.f16.f32 %h4, %r1;", "cvt.rn.bf16.f32 %h4, %r1;", "cvt.rn.f16x2.f32 %r4, %r1, %r2;",
        "cvt.rn.bf16x2.f32 %r4, %r1, %r2;", "cvt.rn.f16.f64 %h4, %d1;", "cvt.rni.f16.f16 %h4, %h1;",
        "cvt.rzi.s32.f32 %r4, %r1;", "cvt.rni.s64.f64 %d4, %d1;", "cvt.rn.f32.u64 %r4, %d1;",
        "cvt.rn.f64.s64 %d4, %d1;", "cvt.s64.s32 %d4, %r1;", "cvt.u64.u8 %d4, %r1;",
        "cvt.sat.s8.s32 %r4, %r1;", "brev.b64 %d4, %d1;", "popc.b64 %r4, %d1;", "clz.b32 %r4, %r1;",
        "prmt.b32 %r4, %r1, %r2, %r3;", "prmt.b32.b4e %r4, %r1, %r2, %r3;",
        "bfe.s64 %d4, %d1, %r2, %r3;", "mad.hi.u32 %r4, %r1, %r2, %r3;",
        "mul.hi.s64 %d4, %d1, %d2;", "shl.b64 %d4, %d1, %r2;", "ex2.approx.f32 %r4, %r1;",
        "ex2.approx.ftz.f32 %r4, %r1;", "sin.approx.f32 %r4, %r1;", "cos.approx.f32 %r4, %r1;",
        "lg2.approx.f32 %r4, %r1;", "rsqrt.approx.f32 %r4, %r1;", "mov.u32 %r4, %tid.x;",
        "setp.lt.f32 %q, %r1, %r2;", "setp.gt.u64 %q, %d1, %d2;",
        "st.shared.u8 [%o+1], %r1; ld.shared.s8 %d4, [%o+1];",
        "st.shared.v2.u32 [%o], {%r1, %r2}; ld.shared.u64 %d4, [%o];",
        "ld.global.v2.f32 {%r4, %r5}, [%x];", "ld.global.s16 %r4, [%x+2];"));

}  // namespace
}  // namespace fatlink::interpreter
