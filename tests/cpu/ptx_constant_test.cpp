// SPDX-License-Identifier: Apache-2.0
// Constant expressions in operands and initialisers. The values are those of ptxas 13.0.
#include <utility>

#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

class PtxConstant : public Ptx {
 protected:
  /// What an initialiser writes to a .b64 variable.
  std::uint64_t initial(std::string const& expression)
  {
    auto const words = run({{"a.ptx", ".global .b64 x = " + expression + ";\n" +
                                          kernel_of("mov.u64 %rd4, x; shl.b32 %r1, %t, 2; "
                                                    "cvt.u64.u32 %rd5, %r1; add.s64 %rd4, %rd4, "
                                                    "%rd5; ld.global.u32 %v, [%rd4];")}},
                           2);
    return words[0] | std::uint64_t{words[1]} << 32;
  }
  std::uint32_t operand(std::string const& expression)
  {
    return run("mov.u32 %v, " + expression + ";", 1)[0];
  }
};

TEST_F(PtxConstant, OperatorsBindAsInC)
{
  for (auto const& [text, value] :
       std::vector<std::pair<char const*, std::uint32_t>>{{"(1<<4)+3", 19},
                                                          {"1<<4+3", 128},
                                                          {"10 - 3 - 2", 5},
                                                          {"3 & 5 == 5", 1},
                                                          {"1 | 2 ^ 3 & 4", 3},
                                                          {"2 && 0 || 3", 1},
                                                          {"1 < 2 < 3", 1},
                                                          {"1 ? 2 : 0 ? 3 : 4", 2},
                                                          {"-~1", 2},
                                                          {"- -1", 1},
                                                          {"!0 + 1", 2},
                                                          {"WARP_SZ * 2", 64},
                                                          {"31&~3", 28},
                                                          {"+5", 5},
                                                          {"0x10U | 010 | 0b11", 27}})
    EXPECT_EQ(operand(text), value) << text;
}

TEST_F(PtxConstant, IntegersAreSignedUntilAnUnsignedOneIsInvolved)
{
  constexpr auto k_ones = ~std::uint64_t{0};
  for (auto const& [text, value] : std::vector<std::pair<char const*, std::uint64_t>>{
           {"-7 / 2", k_ones - 2},
           {"-7 / 2U", 0x7FFFFFFFFFFFFFFC},
           {"(-1) > 0", 0},
           {"(-1) > 0U", 1},
           {"-1 >> 1", k_ones},
           {"(.u64) -1 >> 60", 15},
           {"(.s64) 0xffffffffffffffff >> 60", k_ones},
           {"0xffffffffffffffff / 2", k_ones >> 1},
           {"(~0) / 2", k_ones >> 1},
           {"1U - 2 > 0", 1},
           {"(1==1) - 2 < 0", 1},
           {"9223372036854775808 > -1", 0},
           {"9223372036854775807 + 1", std::uint64_t{1} << 63},
           {"-0x8000000000000000", std::uint64_t{1} << 63}})
    EXPECT_EQ(initial(text), value) << text;
}

TEST_F(PtxConstant, RemaindersAreUnsignedAndShiftsModulo64)
{
  EXPECT_EQ(initial("(0-7) % 4"), 1U);
  EXPECT_EQ(initial("7 % 4"), 3U);
  EXPECT_EQ(initial("1 << 65"), 2U);
  EXPECT_EQ(initial("0x8000000000000000 >> 1"), std::uint64_t{1} << 62);
}

TEST_F(PtxConstant, QuotientsNeverOverflow)
{
  EXPECT_EQ(initial("(-0x7fffffffffffffff - 1) / -1"), std::uint64_t{1} << 63);
  expect_failure(error_kind::syntax, "a constant expression divides by zero", "mov.u32 %v, 1 / 0;");
  expect_failure(error_kind::syntax, "a constant expression divides by zero", "mov.u32 %v, 1 % 0;");
}

TEST_F(PtxConstant, RealsAreComputedInDouble)
{
  EXPECT_EQ(run("mov.f32 %f1, 1.0/3.0; mov.b32 %v, %f1;", 1), values{0x3EAAAAAB});
  EXPECT_EQ(run("mov.f32 %f1, 2.0*0.1+1.0; mov.b32 %v, %f1;", 1), values{0x3F99999A});
  EXPECT_EQ(run("mov.f32 %f1, -(0f3F800000); mov.b32 %v, %f1;", 1), values{0xBF800000});
  EXPECT_EQ(operand("1.5 > 1.0"), 1U);
  expect_failure(error_kind::syntax, "expected an integer constant", "mov.u32 %v, 1.0 << 2;");
  expect_failure(error_kind::syntax, "the cases are of different types",
                 "mov.f32 %f1, 1 ? 2.0 : 3;");
}

TEST_F(PtxConstant, InitialisersOfUntypedBitsTakeRealsOfTheirWidth)
{
  auto const text = std::string(".global .b32 x[4] = {0f3f800000, 1.5, 3, (1<<4)+1};\n") +
                    kernel_of(
                        "mov.u64 %rd4, x; mul.wide.u32 %rd5, %t, 4; add.s64 %rd4, %rd4, "
                        "%rd5; ld.global.u32 %v, [%rd4];");
  EXPECT_EQ(run({{"a.ptx", text}}, 4), (values{0x3F800000, 0x3FC00000, 3, 17}));
}

TEST_F(PtxConstant, OffsetsAndIndicesOfArraysAreExpressions)
{
  auto const array = std::string(".global .u32 x[5] = {10, 11, 12, 13, 14};\n");
  for (auto const& [text, value] : std::vector<std::pair<char const*, std::uint32_t>>{
           {"ld.global.u32 %v, [x+4*2];", 12},
           {"ld.global.u32 %v, [x+(1<<2)];", 11},
           {"ld.global.u32 %v, [x+16-8+4];", 13},
           {"ld.global.u32 %v, x[1];", 11},
           {"ld.global.u32 %v, x[1+2];", 13},
           {"mov.u64 %rd4, x[2]; ld.global.u32 %v, [%rd4+-4];", 11},
           {"mov.u64 %rd4, x; ld.global.u32 %v, [%rd4+4*4];", 14},
           {"st.global.u32 x[3], 7; ld.global.u32 %v, [x+12];", 7},
           {".local .u32 l[4]; st.local.u32 [l+4*3], 9; ld.local.u32 %v, l[3];", 9},
           {".shared .u32 s[4]; st.shared.u32 s[1], 8; ld.shared.u32 %v, [s+4];", 8}})
    EXPECT_EQ(run({{"a.ptx", array + kernel_of(text)}}, 1), values{value}) << text;
  expect_failure(error_kind::syntax,
                 "does not understand 'ld.global.u32 %v, x[%t': the index of an array is not a "
                 "constant",
                 {{"a.ptx", array + kernel_of("ld.global.u32 %v, x[%t];")}});
}

TEST_F(PtxConstant, DepthOfNestingIsLimited)
{
  auto const nested = [](std::size_t depth, char const* open, char const* close) {
    std::string text = "1";
    for (std::size_t i = 0; i < depth; ++i) (text.insert(0, open)) += close;
    return text;
  };
  EXPECT_EQ(operand(nested(50, "(", ")")), 1U);
  for (auto const& text : {nested(100'000, "(", ")"), nested(100'000, "-", ""),
                           nested(100'000, "1?1:", ""), nested(100'000, "(.u64)", "")})
    expect_failure(error_kind::refused, "constant expressions nested deeper than 64",
                   "mov.u32 %v, " + text + ";");
}

}  // namespace fatlink::interpreter
