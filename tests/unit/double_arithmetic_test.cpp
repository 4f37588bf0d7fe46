// SPDX-License-Identifier: Apache-2.0
// The instructions are those that nvcc 13.0 writes for the functions in the comments.
#include "preflight/rules.hpp"

#include <gmock/gmock.h>

#include "fatlink/input.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// float NAME(float) with this body between its loads and its stores.
std::string float_function(std::string const& name, std::string const& body)
{
  return ".visible .func (.param .b32 result) " + name +
         "(.param .b32 x)\n{\n.reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n.reg .b64 %rd<9>;\n"
         "ld.param.f32 %f1, [x];\n" +
         body + "st.param.f32 [result], %f2;\nret;\n}\n";
}

/// x / (1.0 + x)
constexpr char const* k_divide =
    "cvt.f64.f32 %fd1, %f1;\nadd.f64 %fd2, %fd1, 0d3FF0000000000000;\n"
    "div.rn.f64 %fd3, %fd1, %fd2;\ncvt.rn.f32.f64 %f2, %fd3;\n";

std::vector<finding> findings_of(std::string const& functions)
{
  auto const file = input::from_bytes(
      fixtures::to_bytes(".version 9.0\n.target sm_75\n.address_size 64\n" + functions), "t.ptx");
  return detail::find_double_arithmetic(file.modules().front());
}

std::vector<std::string> symbols_of(std::string const& functions)
{
  std::vector<std::string> symbols;
  for (auto const& found : findings_of(functions)) symbols.push_back(found.symbol);
  return symbols;
}

}  // namespace

TEST(DoubleArithmetic, OfAFloatFunctionIsAWarning)
{
  auto const findings = findings_of(float_function("f", k_divide));
  ASSERT_EQ(findings.size(), 1);
  auto const& found = findings.front();
  EXPECT_EQ(found.id, finding_id::double_arithmetic);
  EXPECT_EQ(found.severity, severity::warning);
  EXPECT_EQ(found.symbol, "f");
  EXPECT_THAT(found.message,
              HasSubstr("f is a function on float that computes in double (add.f64, line 11 of the "
                        "PTX)"));
  EXPECT_THAT(found.hint, HasSubstr("write float literals (0.5F; in Python numpy.float32(0.5))"));
}

TEST(DoubleArithmetic, IsReportedOnceForEachFunction)
{
  EXPECT_THAT(
      symbols_of(float_function("a", k_divide) + float_function("b", "mov.f32 %f2, %f1;\n") +
                 float_function("c", k_divide)),
      ElementsAre("a", "c"));
}

TEST(DoubleArithmetic, IsReportedAtTheSourceLineIfThatIsKnown)
{
  auto const code =
      ".file 1 \"src/half.cu\"\n" + float_function("f", std::string(".loc 1 3 5\n") + k_divide);
  EXPECT_THAT(findings_of(code).front().message, HasSubstr("half.cu:3"));
}

TEST(DoubleArithmetic, CountsComparisonsAndArgumentsOfFunctions)
{
  // x > 0.1
  EXPECT_THAT(symbols_of(float_function("f",
                                        ".reg .pred %p<2>;\ncvt.f64.f32 %fd1, %f1;\n"
                                        "setp.gt.f64 %p1, %fd1, 0d3FB999999999999A;\n")),
              ElementsAre("f"));
  // pow(x, 1.5)
  EXPECT_THAT(symbols_of(float_function("f",
                                        "cvt.f64.f32 %fd1, %f1;\nmov.f64 %fd2, %fd1;\n"
                                        "{\n.param .b64 a;\nst.param.f64 [a], %fd2;\n}\n")),
              ElementsAre("f"));
}

TEST(DoubleArithmetic, IsNotAConversionThatIsOnlyStored)
{
  // printf("%f", x)
  EXPECT_THAT(symbols_of(float_function("f",
                                        ".local .align 8 .b8 stack[8];\nmov.u64 %rd1, stack;\n"
                                        "cvt.f64.f32 %fd1, %f1;\nst.local.f64 [%rd1], %fd1;\n")),
              IsEmpty());
}

TEST(DoubleArithmetic, IsNotThatOfCudasFloatFunctions)
{
  // sinf(x), for large x
  EXPECT_THAT(symbols_of(float_function(
                  "f",
                  "cvt.rn.f64.s64 %fd1, %rd1;\nmul.f64 %fd2, %fd1, 0d3BF921FB54442D19;\n"
                  "cvt.rn.f32.f64 %f2, %fd2;\n")),
              IsEmpty());
}

TEST(DoubleArithmetic, OfAFunctionOnDoubleIsNoWarning)
{
  constexpr char const* k_result =
      ".visible .func (.param .b64 result) f(.param .b32 x)\n{\n.reg .f32 %f<9>;\n"
      ".reg .f64 %fd<9>;\nld.param.f32 %f1, [x];\ncvt.f64.f32 %fd1, %f1;\n"
      "mul.f64 %fd2, %fd1, %fd1;\nst.param.f64 [result], %fd2;\nret;\n}\n";
  constexpr char const* k_parameter =
      ".visible .func (.param .b32 result) f(.param .b32 x, .param .b64 y)\n{\n.reg .f32 %f<9>;\n"
      ".reg .f64 %fd<9>;\nld.param.f32 %f1, [x];\nld.param.f64 %fd1, [y];\n"
      "cvt.f64.f32 %fd2, %f1;\nmul.f64 %fd3, %fd1, %fd2;\ncvt.rn.f32.f64 %f2, %fd3;\n"
      "st.param.f32 [result], %f2;\nret;\n}\n";
  EXPECT_THAT(symbols_of(k_result), IsEmpty());
  EXPECT_THAT(symbols_of(k_parameter), IsEmpty());
}

TEST(DoubleArithmetic, OfAFunctionOnIntegersIsNoWarning)
{
  EXPECT_THAT(symbols_of(".visible .func (.param .b32 result) f(.param .b32 x)\n{\n"
                         ".reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n.reg .b32 %r<9>;\n"
                         "ld.param.u32 %r1, [x];\nmov.b32 %f1, %r1;\ncvt.f64.f32 %fd1, %f1;\n"
                         "mul.f64 %fd2, %fd1, %fd1;\ncvt.rzi.s32.f64 %r2, %fd2;\n"
                         "st.param.b32 [result], %r2;\nret;\n}\n"),
              IsEmpty());
}

TEST(DoubleArithmetic, IsNotSearchedInPtxThatTheReferenceDeviceCannotRead)
{
  EXPECT_THAT(symbols_of(float_function("f", std::string(k_divide) + ".reg .q8 %q;\n")), IsEmpty());
}
