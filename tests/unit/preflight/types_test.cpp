// SPDX-License-Identifier: Apache-2.0
// Types of functions and variables in inputs of every form, and arithmetic in double by mistake.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cubin_bytes.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "form_inputs.hpp"
#include "preflight/rules.hpp"

using namespace fatlink;
using fixtures::ptx_module;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Calls `hook` by name, and takes the address of `passed_on`, of which it states no types.
input types_cubin()
{
  return input::from_bytes(cubin_bytes::types(), "types.cubin");
}

/// A module that calls `passed_on` and passes a parameter of the type `type`, "f32" or "b32".
input caller(std::string const& name, std::string const& type)
{
  return ptx_module(name, ".extern .func passed_on (.param .b32 p);\n.visible .entry k_" +
                              name.substr(0, 1) + " () {\n.reg ." + type +
                              " %r;\n{\n.param .b32 q;\nst.param." + type +
                              " [q], %r;\ncall.uni passed_on, (q);\n}\nret;\n}\n");
}

input defining_module(std::string const& name, std::string const& type,
                      char const* linkage = ".visible")
{
  return ptx_module(name,
                    std::string(linkage) + " .func passed_on (.param ." + type + " p) { ret; }\n");
}

/// The findings about `symbol`, as "error signature-mismatch".
std::vector<std::string> findings_about(std::vector<input> const& inputs, std::string const& symbol)
{
  std::vector<std::string> texts;
  preflight_request const request{.target = "sm_90a", .mode = link_mode::ptx, .allow_calls = true};
  for (auto const& entry : preflight(inputs, request))
    if (entry.symbol == symbol)
      texts.push_back(std::string(to_string(entry.severity)) + " " + to_string(entry.id));
  return texts;
}

/// Calls `judge` with the inputs in every order, and a text that names the order.
void in_every_order(std::vector<input> const& inputs,
                    std::function<void(std::vector<input> const&, std::string const&)> const& judge)
{
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), 0U);
  do {
    std::vector<input> ordered;
    std::string text;
    for (auto const index : order) {
      ordered.push_back(inputs[index]);
      text += inputs[index].name() + " ";
    }
    judge(ordered, text);
  } while (std::next_permutation(order.begin(), order.end()));
}

void expect_mismatch_in_every_order(std::vector<input> const& inputs, std::string const& symbol)
{
  in_every_order(inputs, [&](auto const& ordered, auto const& text) {
    EXPECT_THAT(findings_about(ordered, symbol), testing::Contains("error signature-mismatch"))
        << text;
  });
}

}  // namespace

TEST(FunctionTypes, AreComparedWithADeclarationThatStatesThemWhereACubinStatesNone)
{
  expect_mismatch_in_every_order(
      {types_cubin(), ptx_module("b.ptx", ".extern .func passed_on (.param .b32 p);\n"),
       defining_module("t.ptx", "b64")},
      "passed_on");
}

TEST(FunctionTypes, AreComparedWithADeclarationThatStatesMoreThanWidths)
{
  auto const types = [](std::string const& first) {
    return "(.param .b32 r) hook (.param ." + first +
           " a, .param .b64 b, .param .b32 c, .param .align 4 .b8 d[12])";
  };
  expect_mismatch_in_every_order(
      {types_cubin(), ptx_module("b.ptx", ".extern .func " + types("b32") + ";\n"),
       ptx_module("t.ptx", ".visible .func " + types("b16") + "{ ret; }\n")},
      "hook");
  in_every_order({types_cubin(), ptx_module("b.ptx", ".extern .func " + types("b32") + ";\n"),
                  ptx_module("t.ptx", ".visible .func " + types("b32") + "{ ret; }\n")},
                 [](auto const& ordered, auto const& text) {
                   EXPECT_THAT(findings_about(ordered, "hook"), IsEmpty()) << text;
                 });
}

TEST(FunctionTypes, AreComparedWithACallThatShowsFloatsWhereADeclarationShowsNone)
{
  expect_mismatch_in_every_order({ptx_module("a.ptx", ".extern .func passed_on (.param .b32 p);\n"),
                                  caller("b.ptx", "f32"), caller("c.ptx", "u32")},
                                 "passed_on");
}

TEST(FunctionTypes, OfAWeakDefaultAndItsReplacementAreComparedWhereTheHookStatesNone)
{
  expect_mismatch_in_every_order(
      {types_cubin(), defining_module("w.ptx", "b32", ".weak"), defining_module("t.ptx", "b64")},
      "passed_on");
}

TEST(FunctionTypes, NameTheDeclarationFirst)
{
  in_every_order({types_cubin(), ptx_module("b.ptx", ".extern .func passed_on (.param .b32 p);\n"),
                  defining_module("t.ptx", "b64")},
                 [](auto const& ordered, auto const& text) {
                   auto const findings = preflight(
                       ordered, {.target = "sm_90a", .mode = link_mode::ptx, .allow_calls = true});
                   auto const mismatch =
                       std::find_if(findings.begin(), findings.end(), [](finding const& entry) {
                         return entry.id == finding_id::signature_mismatch;
                       });
                   ASSERT_NE(mismatch, findings.end());
                   EXPECT_EQ(mismatch->message,
                             "b.ptx declares passed_on(b32) and t.ptx defines passed_on(b64)")
                       << text;
                 });
}

TEST(FunctionTypes, ThatNoDeclarationStatesAreReported)
{
  in_every_order(
      {types_cubin(), defining_module("t.ptx", "b64")}, [](auto const& ordered, auto const& text) {
        EXPECT_THAT(findings_about(ordered, "passed_on"), ElementsAre("warning unchecked-types"))
            << text;
      });
  auto const findings =
      preflight(std::vector{types_cubin(), defining_module("t.ptx", "b64")},
                {.target = "sm_90a", .mode = link_mode::ptx, .allow_calls = true});
  auto const warning = std::find_if(findings.begin(), findings.end(), [](finding const& entry) {
    return entry.id == finding_id::unchecked_types;
  });
  ASSERT_NE(warning, findings.end());
  EXPECT_EQ(warning->message,
            "types.cubin takes the address of passed_on and does not state its types, so those of "
            "passed_on(b64) in t.ptx are not compared");
  EXPECT_EQ(warning->hint, "pass types.cubin as PTX or LTO-IR, which state the types");
}

TEST(VariableTypes, OfACubinThatStatesNoAlignmentAgreeWithADeclarationThatDoes)
{
  // types_sass.fatbin: the cubin defines `counter` with 4 bytes.
  auto const declared = [](std::string const& type) {
    return ptx_module("v.ptx", ".extern .global .align 4 ." + type + " counter;\n");
  };
  in_every_order({types_cubin(), declared("u32")}, [](auto const& ordered, auto const& text) {
    EXPECT_THAT(findings_about(ordered, "counter"), IsEmpty()) << text;
  });
  in_every_order({types_cubin(), declared("u64")}, [](auto const& ordered, auto const& text) {
    EXPECT_THAT(findings_about(ordered, "counter"), ElementsAre("error signature-mismatch"))
        << text;
  });
}

TEST(FunctionTypes, OfStructsThatTwoCompilersAlignDifferentlySaySo)
{
  std::vector const inputs{
      ptx_module("lib.ptx",
                 ".extern .func hook (.param .align 1 .b8 p[3]);\n.visible .entry k () {\n"
                 "{ .param .align 1 .b8 a[3]; call.uni hook, (a); }\nret;\n}\n"),
      ptx_module("clang.ptx", ".visible .func hook (.param .align 4 .b8 p[3]) { ret; }\n")};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].message,
            "lib.ptx declares hook(align 1 b8[3]) and clang.ptx defines "
            "hook(align 4 b8[3])");
  EXPECT_EQ(findings[0].hint,
            "compilers align struct parameters differently: clang to at least 4 bytes, nvcc as the "
            "struct; compile both with one compiler, or pass the struct by address");
}

// The instructions are those that nvcc 13.0 writes for the functions in the comments.

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
