// SPDX-License-Identifier: Apache-2.0
// The comparable form of PTX code.
#include <gtest/gtest.h>

#include <string>

#include "expect_error.hpp"
#include "ptx/ptx_code.hpp"

using namespace fatlink;
using detail::name_scope;
using detail::read_ptx_code;

namespace {

constexpr char const* k_code_head = ".version 9.0\n.target sm_75\n.address_size 64\n";

std::string code_of(std::string const& text, std::string_view name,
                    name_scope scope = name_scope::module)
{
  auto const code = read_ptx_code(k_code_head + text, "test", scope);
  auto const found = code.find(name);
  return found == code.end() ? "not defined" : found->second;
}

std::string function_f(std::string const& body)
{
  return ".weak .func (.param .b32 func_retval0) f(.param .b32 f_param_0)\n{\n" + body +
         "ret;\n}\n";
}

}  // namespace

TEST(PtxCode, IsEqualWithoutCommentsAndDebugInformation)
{
  auto const plain = function_f("mul.f32 %f1, %f1, 0f40000000;\n");
  auto const other = function_f(
      "$L__tmp3:\n.loc 1 5 3, function_name $L__info_string0+4, inlined_at 1 7 2\n"
      "mul.f32 \t%f1, %f1, // twice\n 0f40000000;\n.loc 1 6 1\n");
  EXPECT_EQ(code_of(plain, "f"), code_of(".file 1 \"a.cu\"\n" + other, "f"));
}

TEST(PtxCode, IsEqualWhateverElseTheModuleHas)
{
  auto const first = function_f("$L__BB0_1:\nmov.b64 %SPL, __local_depot0;\nbra $L__BB0_1;\n");
  auto const second = function_f("$L__BB7_1:\nmov.b64 %SPL, __local_depot7;\nbra $L__BB7_1;\n");
  EXPECT_EQ(code_of(first, "f"), code_of(".visible .func g() { ret; }\n" + second, "f"));
}

TEST(PtxCode, IsEqualInWhicheverRegistersConstantsAre)
{
  EXPECT_EQ(code_of(function_f(".reg .b64 %rd<4>;\nmov.u64 %rd1, 0; st.u64 [%SP], %rd1;\n"
                               "mov.u64 %rd2, 0; st.u64 [%SP+8], %rd2; add.s64 %rd3, %rd3, 1;\n"),
                    "f"),
            code_of(function_f(".reg .b64 %rd<3>;\nmov.u64 %rd1, 0; st.u64 [%SP], %rd1;\n"
                               "st.u64 [%SP+8], %rd1; add.s64 %rd2, %rd2, 1;\n"),
                    "f"));
}

TEST(PtxCode, DiffersWithTheFirstValueOfARegisterThatIsWrittenAgain)
{
  auto const loop = [](std::string const& first) {
    return function_f("mov.u32 %r1, " + first + ";\n$L__BB0_1: add.s32 %r1, %r1, 3;\n");
  };
  EXPECT_NE(code_of(loop("0"), "f"), code_of(loop("1"), "f"));
}

TEST(PtxCode, DiffersWithConstantsLabelsAndTypes)
{
  auto const plain = code_of(function_f("add.f32 %f1, %f1, 0f40000000;\n"), "f");
  EXPECT_NE(plain, code_of(function_f("add.f32 %f1, %f1, 0f40400000;\n"), "f"));
  EXPECT_NE(code_of(function_f("$a: $b: bra $a;\n"), "f"),
            code_of(function_f("$a: $b: bra $b;\n"), "f"));
  EXPECT_NE(code_of(".weak .global .f32 v = 0f40000000;\n", "v"),
            code_of(".weak .global .f32 v = 0f42C80000;\n", "v"));
}

TEST(PtxCode, FollowsNamesWithoutLinkage)
{
  auto const helper = [](std::string const& name, std::string const& body) {
    return ".func " + name + "() { " + body + " ret; }\n" + function_f("call " + name + ", ();\n");
  };
  EXPECT_EQ(code_of(helper("g_1", "trap;"), "f"), code_of(helper("g_2", "trap;"), "f"));
  EXPECT_NE(code_of(helper("g", "trap;"), "f"), code_of(helper("g", "exit;"), "f"));
  EXPECT_EQ(code_of(helper("g", "trap;"), "g"), "not defined");
}

TEST(PtxCode, OfALinkIgnoresNamesThatTheLinkChanged)
{
  auto const linked = [](std::string const& first, std::string const& second) {
    return ".func " + first + "() { trap; }\n.func " + second + "() { exit; }\n" +
           ".func f() { call " + first + ", (); ret; }\n";
  };
  EXPECT_EQ(code_of(linked("g", "g_$_1"), "f", name_scope::linked),
            code_of(linked("g_$_1", "g"), "f", name_scope::linked));
  EXPECT_EQ(code_of(linked("g", "g_$_1"), "g", name_scope::linked), "not defined");
  EXPECT_NE(code_of(linked("g", "h"), "f", name_scope::linked),
            code_of(linked("h", "g"), "f", name_scope::linked));
}

TEST(PtxCode, OfALinkLeavesOutWhatATranslationUnitHasForItself)
{
  auto const code_of_function = [](std::string const& name) {
    return code_of(".func " + name + "() { trap; }\n", name, name_scope::linked);
  };
  for (auto const* name :
       {"_ZN43_INTERNAL_bf433ec4_12_histogram_cu_5eb4f7b624__cvtaEv", "_INTERNAL_bf433ec4_4_f"})
    EXPECT_EQ(code_of_function(name), "not defined");
  for (auto const* name : {"_ZN9_INTERNALEv", "x_INTERNAL_"})
    EXPECT_NE(code_of_function(name), "not defined");
}

TEST(PtxCode, OfRecursiveFunctionsAndLongChainsEnds)
{
  EXPECT_EQ(code_of(".func g() { call g, (); }\n" + function_f("call g, ();\n"), "f"),
            code_of(".func h() { call h, (); }\n" + function_f("call h, ();\n"), "f"));
  std::string chain = function_f("call g0, ();\n");
  for (int i = 0; i < 100'000; ++i)
    chain += ".func g" + std::to_string(i) + "() { call g" + std::to_string(i + 1) + ", (); }\n";
  EXPECT_NE(code_of(chain, "f"), "not defined");
}

TEST(PtxCode, ThatEndsInsideADefinitionIsRefused)
{
  expect_error<file_error>([] { (void)code_of(".weak .func f() { ret;", "f"); },
                           "ends inside a definition");
}

TEST(PtxCode, KnowsWhatMadeTheModule)
{
  EXPECT_EQ(detail::read_ptx_origin("// CL-1\n.version 9.0\n.target sm_75\n.address_size 64\n"),
            "// CL-1\n.version 9.0\n.target sm_75\n");
}
