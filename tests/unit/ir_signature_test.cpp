// SPDX-License-Identifier: Apache-2.0
#include "compiler/llvm_ir.hpp"

#include <gmock/gmock.h>

using namespace fatlink::detail;

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
