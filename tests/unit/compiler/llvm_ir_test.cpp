// SPDX-License-Identifier: Apache-2.0
// LLVM IR: signatures, checks before and after a compile, and the fatbin that results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/check_hooks.hpp"
#include "compiler/llvm_ir.hpp"
#include "compiler/make_fatbin.hpp"
#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fixtures.hpp"

using namespace fatlink::detail;
using namespace fatlink;

namespace {

/// The type of @f in `text`; "none" if it defines none.
std::string signature_type(std::string const& text)
{
  auto const type = find_ir_definition(text, "f");
  return type ? to_string(*type) : "none";
}

bool agree(std::string const& definition, std::string const& mangled)
{
  auto const type = find_ir_definition(definition, "f");
  return type && agrees(*type, mangled);
}

}  // namespace

TEST(IrSignature, IsReadFromADefinition)
{
  EXPECT_EQ(signature_type("define float @f(float %x) {\n"), "float (float)");
  EXPECT_EQ(signature_type("declare i32 @f(i32)\n\n  define void @\"f\"() #0 {\n"), "void ()");
  EXPECT_EQ(
      signature_type("define dso_local noundef double @f(i32 noundef %a, double\n %b) #1 {\n"),
      "double (i32, double)");
}

TEST(IrSignature, TakesEveryPointerAsOne)
{
  EXPECT_EQ(signature_type(
                "define float* @f(float addrspace(1)* nocapture %a, ptr align(4) %b, [2 x i8]* "
                "%c) {\n"),
            "ptr (ptr, ptr, ptr)");
}

TEST(IrSignature, LeavesOtherTypesUnknown)
{
  EXPECT_EQ(
      signature_type("define { float, float } @f(<2 x float> %a, %struct.s %b, [2 x i8] %c) {\n"),
      "? (?, ?, ?)");
}

TEST(IrSignature, IsOfTheWholeNameAndOfADefinitionOnly)
{
  for (auto const* text : {"", "define", "define float @ff(float %x) {\n", "define float @f",
                           "declare float @f(float)\n", "; define float @f(float %x)\n",
                           "define float ; @f(float %x)\n", "define float\n@f(i32)"})
    EXPECT_EQ(signature_type(text), "none") << text;
}

TEST(IrSignature, OfATextThatEndsEarlyIsWhatIsThere)
{
  EXPECT_EQ(signature_type("define float @f(i32 %a, float %b"), "float (i32)");
}

TEST(IrSignature, AgreesWithTheSameMangledType)
{
  EXPECT_TRUE(agree("define float @f(float %x) {\n", "FffE"));
  EXPECT_TRUE(agree("define void @f(double %x, i32 %y, i64 %z) {\n", "FvdjmE"));
  EXPECT_TRUE(agree("define float @f(ptr %x, i64 %y) {\n", "FfPKfPfE"));
  EXPECT_TRUE(agree("define float @f() {\n", "FfvE"));
}

TEST(IrSignature, DisagreesWithAnotherOne)
{
  EXPECT_FALSE(agree("define i32 @f(float %x) {\n", "FffE"));
  EXPECT_FALSE(agree("define float @f(i32 %x) {\n", "FffE"));
  EXPECT_FALSE(agree("define float @f(float %x, double %y) {\n", "FfPfxE"));
}

TEST(IrSignature, AgreesWhereATypeIsNotCompared)
{
  EXPECT_TRUE(agree("define half @f(half %x) {\n", "F6__halfS_E"));
  EXPECT_TRUE(agree("define i1 @f(i32 %x) {\n", "FbcE"));
  EXPECT_TRUE(agree("define float @f(i32 %x) {\n", "no type"));
  EXPECT_TRUE(agree("define float @f(float %x, i32 %y) {\n", "Ff"));
}

// The checks of compiled LLVM IR that need no libNVVM.

namespace {

compile_subject const k_subject{.name = "src/sine.ll", .program_name = "sine.ll"};

/// A transform that calls __nv_sinf, which no module defines.
fatbin calling_libdevice()
{
  return input::from_bytes(
             fixtures::to_bytes(
                 ".version 9.0\n.target sm_75\n.address_size 64\n"
                 ".extern .func (.param .b32 r) __nv_sinf(.param .b32 x);\n"
                 ".visible .func (.param .b32 r) user_transform(.param .b32 x)\n{\n"
                 ".reg .f32 %f<3>;\nld.param.f32 %f1, [x];\n{\n.param .b32 a;\n.param .b32 b;\n"
                 "st.param.f32 [a], %f1;\ncall.uni (b), __nv_sinf, (a);\nld.param.f32 %f2, [b];\n"
                 "}\nst.param.f32 [r], %f2;\nret;\n}\n"),
             "t.ptx")
      .modules()
      .front();
}

}  // namespace

TEST(CheckLibdevice, SaysWhatToInstallIfItIsMissing)
{
  expect_error<unavailable_error>(
      [] { check_libdevice(calling_libdevice(), k_subject, ""); },
      "src/sine.ll: calls __nv_sinf of libdevice, and no libdevice.10.bc belongs to this libNVVM");
}

TEST(CheckLibdevice, NamesAFunctionThatItDoesNotHave)
{
  expect_error<compile_error>(
      [] { check_libdevice(calling_libdevice(), k_subject, "/x/libdevice.10.bc"); },
      "src/sine.ll: calls __nv_sinf, which libdevice does not have");
}

TEST(CheckIrText, RefusesTextWithoutCodeOrDataLayout)
{
  for (auto const* text : {"", "; a\n ; b"})
    expect_error<compile_error>([&] { check_ir_text(text, k_subject); },
                                "src/sine.ll: is empty: it defines no function");
  for (auto const* text : {"extern \"C\" __device__ float f(float x);", "int x;\n\n", "\n x"})
    expect_error<compile_error>([&] { check_ir_text(text, k_subject); },
                                "src/sine.ll: is not LLVM IR");
  expect_error<compile_error>([] { check_ir_text("; a\n\tdefine void @f() {", k_subject); },
                              "src/sine.ll: states no target datalayout");
  expect_error<compile_error>([] { check_ir_text("define void @f() {", k_subject); },
                              "src/sine.ll: states no target datalayout");
}

namespace {

std::string toolkit_in(std::string const& ptx)
{
  return stated_toolkit(fixtures::to_bytes(ptx));
}

}  // namespace

TEST(AssembleFatbin, TakesTheToolkitFromTheHeadOfThePtx)
{
  std::string const head =
      "//\n// Generated by NVIDIA NVVM Compiler\n//\n"
      "// Cuda compilation tools, release 13.0, V13.0.88\n// Based on NVVM 7.0.1\n//\n";
  EXPECT_EQ(toolkit_in(head + "\n.version 9.0\n"), "13.0");
  EXPECT_EQ(toolkit_in("\n.version 9.0\n" + head), "");
  EXPECT_EQ(toolkit_in(""), "");
  EXPECT_EQ(toolkit_in("// Cuda compilation tools, release x\n"), "");
}
