// SPDX-License-Identifier: Apache-2.0
// What a PTX module declares: functions, kernels, variables, and what is refused.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fixtures.hpp"

using namespace fatlink;

TEST(PtxInterface, ReadsARealLibraryAndTransform)
{
  auto const library =
      read_ptx_interface(read_ptx(fixtures::fatbin("library.fatbin").entries()[0]));
  ASSERT_EQ(library.kernels.size(), 1U);
  EXPECT_EQ(library.kernels[0].name, "apply_transform");
  EXPECT_EQ(library.kernels[0].parameters.size(), 3U);
  ASSERT_EQ(library.hooks.size(), 1U);
  EXPECT_EQ(to_string(library.hooks[0]), "(b32) user_transform(b32)");
  auto const transform =
      read_ptx_interface(read_ptx(fixtures::fatbin("transform.fatbin").entries()[0]));
  ASSERT_EQ(transform.definitions.size(), 1U);
  EXPECT_EQ(to_string(transform.definitions[0]), "(b32) user_transform(b32)");
}

TEST(PtxInterface, ReadsEveryFormOfParameter)
{
  auto const found = read_ptx_interface(R"(.version 9.0
.target sm_90
.visible .func  (.param .align 16 .b8 func_retval0[32]) by_value(.param .align 8 .b8 p[24], .param .b64 q) { ret; }
.weak .func shared_one() { { ret; } }
.func internal(.param .b32 p) { ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 in, .param .f32 x) .maxntid 256, 1, 1 { ret; }
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
)");
  ASSERT_EQ(found.definitions.size(), 1U);
  EXPECT_EQ(found.definitions[0].results[0], (ptx_parameter{"b8", 16, 32}));
  EXPECT_EQ(found.definitions[0].parameters[0], (ptx_parameter{"b8", 8, 24}));
  EXPECT_EQ(found.weak[0].name, "shared_one");
  EXPECT_EQ(to_string(found.kernels[0]), "k(u64, f32)");
  EXPECT_EQ(found.kernels[0].parameters[0].align, 0U);
  EXPECT_EQ(found.hooks[0].name, "vprintf");
}

TEST(PtxInterface, NamesFunctionsThatOtherModulesCannotCallInOrder)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.func only_declared();
.func second() { ret; }
.func first() { ret; }
.visible .func called_by_others() { ret; }
.weak .func shared_one() { ret; }
)");
  EXPECT_EQ(module.hidden, (std::vector<std::string>{"first", "second"}));
}

TEST(PtxInterface, ReadsVariablesAsNvccWritesThem)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.visible .global .align 4 .f32 scale = 0f3F800000;
.visible .const .align 4 .b8 table[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
.visible .global .attribute(.managed) .align 4 .u32 counter = 3;
.visible .global .align 8 .u64 pointer = generic(scale);
.weak .global .align 4 .u32 shared_default = 4;
.common .global .align 4 .b8 mergeable[8];
.global .align 4 .u32 private_one = 5;
.extern .shared .align 16 .b8 tile[];
.extern .global .align 8 .b8 pair[16];
.extern .global .align 4 .f32 scale;
.visible .global .align 16 .v4 .f32 lanes, matrix[2][0x3];
)");
  std::vector<std::string> texts;
  for (auto const& variable : module.variables) texts.push_back(to_string(variable));
  EXPECT_EQ(texts, (std::vector<std::string>{"global f32 scale", "const b8 table[12]",
                                             "managed global u32 counter", "global u64 pointer",
                                             "global u32 shared_default", "global b8 mergeable[8]",
                                             "global v4.f32 lanes", "global v4.f32 matrix[6]"}));
  EXPECT_FALSE(module.variables[0].is_weak);
  EXPECT_TRUE(module.variables[4].is_weak);
  EXPECT_TRUE(module.variables[5].is_weak);
  ASSERT_EQ(module.external_variables.size(), 2U);  // scale is defined here
  EXPECT_EQ(to_string(module.external_variables[0], with_alignment::yes),
            "shared align 16 b8 tile[]");
  EXPECT_EQ(to_string(module.external_variables[1]), "global b8 pair[16]");
}

TEST(PtxInterface, ReadsVariadicFunctions)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.extern .func (.param .b32 func_retval0) note
(
	.param .b64 note_param_0,
	.param .align 8 .b8 %VAParam[]
)
;
.visible .func only(.param .align 8 .b8 only_vararg[]) { ret; }
)");
  EXPECT_EQ(to_string(module.hooks.at(0)), "(b32) note(b64, ...)");
  EXPECT_EQ(to_string(module.definitions.at(0)), "only(...)");
  EXPECT_TRUE(module.definitions[0].is_variadic);
}

TEST(PtxInterface, ReadsWhatInstructionsTellOfParameters)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.extern .func (.param .b32 func_retval0) hook(.param .b32 hook_param_0, .param .b32 hook_param_1);
.visible .func (.param .b32 func_retval0) narrow(.param .b32 p0, .param .b32 p1, .param .b32 p2)
{
	ld.param.s8 %rs1, [p0];
	@!%p1 ld.param.f32 %f9, [p2+0];
	ld.param.u32 %r9, [p2];
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.f32 [param0+0], %f1;
	.param .b32 param1;
	st.param.b32 [param1+0], 7;
	.param .b32 retval0;
	call.uni (retval0),
	hook,
	(
	param0,
	param1
	);
	ld.param.f32 %f2, [retval0+0];
	}
	st.param.b32 [func_retval0+0], %r1;
	ret;
}
)");
  auto const& hook = module.hooks.at(0);
  EXPECT_EQ(hook.results[0].accessed_as, "f32");
  EXPECT_EQ(hook.parameters[0].accessed_as, "f32");
  EXPECT_EQ(hook.parameters[1].accessed_as, "b32");
  auto const& narrow = module.definitions.at(0);
  EXPECT_EQ(narrow.results[0].accessed_as, "b32");
  EXPECT_EQ(narrow.parameters[0].accessed_as, "s8");
  EXPECT_EQ(narrow.parameters[1].accessed_as, "");  // nothing reads it
  EXPECT_EQ(narrow.parameters[2].accessed_as, "");  // read as both
}

TEST(PtxInterface, FindsArgumentsThatCallsLeaveOutAndParametersThatNothingReads)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.weak .func (.param .b32 func_retval0) preset(.param .b32 p0, .param .b64 p1, .param .align 4 .b8 p2[8], .param .b64 p3)
{
	ld.param.f32 %f1, [p0];
	mov.b64 %rd1, p3;
	ret;
}
.visible .entry kernel(.param .u64 kernel_param_0)
{
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.f32 [param0+0], %f1;
	.param .b64 param1;
	.param .align 4 .b8 param2[8];
	st.param::func.v2.f32 [param2+0], {%f1, %f2};
	.param .b64 param3;
	mov.b64 %rd9, param3;
	.param .b32 retval0;
	call.uni (retval0), preset, (param0, param1, param2, param3);
	}
	ret;
}
)");
  std::vector<bool> unpassed;
  std::vector<bool> unread;
  for (auto const& parameter : module.weak.at(0).parameters) {
    unpassed.push_back(parameter.is_unpassed);
    unread.push_back(parameter.is_unread);
  }
  EXPECT_EQ(unpassed, (std::vector{false, true, false, false}));
  EXPECT_EQ(unread, (std::vector{false, true, true, false}));
}

TEST(PtxInterface, FindsAnArgumentThatOneOfSeveralCallsLeavesOut)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.weak .func preset(.param .b32 p0) { ld.param.f32 %f1, [p0]; ret; }
.visible .func caller()
{
	{ .param .b32 param0; st.param.f32 [param0], %f1; call.uni preset, (param0); }
	{ .param .b32 param0; call.uni preset, (param0); }
	{ .param .b32 param0; st.param.f32 [param0], %f1; call.uni preset, (param0); }
	ret;
}
)");
  EXPECT_TRUE(module.weak.at(0).parameters.at(0).is_unpassed);
}

TEST(PtxInterface, TakesNoB32ForAnIntegerWhereFloatsAreWrittenSoToo)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.visible .func (.param .b32 func_retval0) f(.param .b32 p)
{
	ld.param.b32 %r1, [p];
	add.rn.f32 %r2, %r1, 0f3F800000;
	st.param.b32 [func_retval0], %r2;
	ret;
}
)");
  EXPECT_EQ(module.definitions.at(0).parameters[0].accessed_as, "");
  EXPECT_EQ(module.definitions.at(0).results[0].accessed_as, "");
}

TEST(PtxInterface, AliasesOfVisibleFunctionsAreDefinitions)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.visible .func (.param .b32 r) f(.param .b64 a) { ret; }
.visible .func (.param .b32 r) g(.param .b64 a);
.extern .func (.param .b32 r) h(.param .b64 a);
.func i() { ret; }
.alias g, f;
.alias h, f;
.alias j, i;
)");
  std::vector<std::string> texts;
  for (auto const& function : module.definitions) texts.push_back(to_string(function));
  EXPECT_EQ(texts, (std::vector<std::string>{"(b32) f(b64)", "(b32) g(b64)", "(b32) h(b64)"}));
  EXPECT_TRUE(module.hooks.empty());
}

TEST(PtxInterface, SkipsAttributesOfFunctions)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.visible .func .attribute(.unified(0xAB, 0xCD)) (.reg .b32 r) f(.reg .b64 a) .noreturn { ret; }
)");
  ASSERT_EQ(module.definitions.size(), 1U);
  EXPECT_EQ(to_string(module.definitions[0]), "(b32) f(b64)");
}

TEST(PtxInterface, RefusesDamagedVariablesAndParameters)
{
  auto const refuses = [](char const* text, char const* says) {
    expect_error<file_error>([&] { read_ptx_interface(std::string(".version 9.0\n") + text); },
                             says);
  };
  refuses(".visible .global .f32 x", "ends inside a variable");
  refuses(".visible .global .f32 ;", "has a variable without a name");
  refuses(".visible .global .b8 x[4;", "has an array without its ']'");
  refuses(".visible .global .b8 x[99999999999][9999999999];", "has an array that is too large");
  refuses(".visible .global .attribute .f32 x;", "has an attribute without parentheses");
  refuses(".visible .global .attribute(.managed", "ends inside an attribute");
  refuses(".func .attribute f() {}", "has an attribute without parentheses");
  refuses(".func .attribute(.unified(1, 2) f() {}", "ends inside an attribute");
  refuses(".alias f;", "has an alias without its function");
  refuses(".func f(.param .b8 p[], .param .b32 q) {}",
          "has an unsized parameter that is not the last");
  refuses(".func (.param .b8 r[]) f() {}", "has a result of unknown size");
}

TEST(PtxInterface, ReadsPointersAndLaunchBoundsOfKernels)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.target sm_90
.visible .entry bounded(.param .u64 .ptr .global .align 4 in, .param .u64 n) .maxntid 64, 2 { ret; }
.visible .entry required() .reqntid 128 .minnctapersm 2 { ret; }
.visible .entry free() { ret; }
)");
  auto const& bounded = module.kernels.at(0);
  EXPECT_TRUE(bounded.parameters[0].is_pointer);
  EXPECT_FALSE(bounded.parameters[1].is_pointer);
  EXPECT_EQ(bounded.max_block_threads, 128U);
  EXPECT_EQ(module.kernels.at(1).required_block, (std::array{128U, 1U, 1U}));
  EXPECT_EQ(module.kernels.at(2).max_block_threads, 0U);
  EXPECT_EQ(module.kernels.at(2).required_block, (std::array{0U, 0U, 0U}));
}

TEST(PtxInterface, IgnoresCommentsStringsAndPrototypesDefinedLater)
{
  auto const found = read_ptx_interface(R"(// .visible .func nothing() {}
.version 9.0 /* .visible .func
nothing() {} */
.extern .func f(.param .b32 p);
.visible .func f(.param .b32 p) { .loc 1 "}"; ret; }
)");
  EXPECT_TRUE(found.hooks.empty());
  ASSERT_EQ(found.definitions.size(), 1U);
  EXPECT_EQ(found.definitions[0].name, "f");
}

TEST(PtxInterface, RefusesDamagedTextWithItsLine)
{
  expect_error<file_error>([] { read_ptx_interface("hello", "f"); },
                           "f: its PTX does not begin with .version (line 1)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.visible .func f( {"); },
                           "(line 2)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.visible .func f() {\n{"); },
                           "inside a block (line 3)");
  expect_error<file_error>([] { read_ptx_interface(".version 9.0\n.func f(.param .b8 p[x]) {}"); },
                           "'x' where a number belongs");
}

TEST(PtxInterface, TellsWhichDeclaredFunctionsNothingMentions)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.extern .func called();
.extern .func in_a_table();
.extern .func by_address();
.extern .func unused(.param .b32 p);
.global .u64 table[1] = {in_a_table};
.visible .entry k() { .reg .b64 %rd1; call.uni called, (); mov.u64 %rd1, by_address; ret; }
)");
  ASSERT_EQ(module.hooks.size(), 4U);
  for (auto const& hook : module.hooks)
    EXPECT_EQ(hook.is_unused, hook.name == "unused") << hook.name;
}

TEST(PtxInterface, TakesTheTypeOfAFloatFromItsRegisterWhereTheMoveStatesBits)
{
  auto const module = read_ptx_interface(R"(.version 9.0
.visible .func (.param .b32 r) f(.param .b32 x, .param .b32 y, .param .b64 z)
{
.reg .f32 %f<4>, value; .reg .b32 %r<4>; .reg .f64 %fd<2>;
ld.param.b32 %f1, [x];
ld.param.u32 %r1, [y];
ld.param.b64 %fd1, [z];
st.param.b32 [r+0], value;
ret;
}
.visible .func (.param .b32 r) g() { .reg .b32 %f<4>; st.param.b32 [r], %f1; ret; }
)");
  auto const& function = module.definitions.at(0);
  EXPECT_EQ(function.results[0].accessed_as, "f32");
  EXPECT_EQ(function.parameters[0].accessed_as, "f32");
  EXPECT_EQ(function.parameters[1].accessed_as, "u32");
  EXPECT_EQ(function.parameters[2].accessed_as, "f64");
  EXPECT_EQ(module.definitions.at(1).results[0].accessed_as, "b32");
}
