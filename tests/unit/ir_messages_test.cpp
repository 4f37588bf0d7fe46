// SPDX-License-Identifier: Apache-2.0
#include "compiler/llvm_ir.hpp"

#include <gmock/gmock.h>

#include "fatlink/error.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr char const* k_load =
    "; a transform\ndefine float @f(ptr %x) {\n  %y = load float, ptr %x\n  ret float %y\n}\n";

error_details ir_refusal(compile_product const& product, ir_compile compile = {})
{
  compile_subject const subject{.name = "src/half.ll", .program_name = "half.ll"};
  if (compile.target == target()) compile.target = "sm_75";
  compile.producer = "libNVVM 13.0";
  try {
    refuse_ir_product(product, subject, compile);
  } catch (error const& failure) {
    return failure.details();
  }
}

compile_product invalid(std::string log)
{
  return {.code = "NVVM_ERROR_INVALID_IR", .log = std::move(log)};
}

}  // namespace

TEST(IrMessages, NameTheUsersFileLineAndColumnFromOne)
{
  auto const details = ir_refusal(invalid("half.ll (5, 12): parse use of undefined value '%z'"));
  EXPECT_EQ(details.message, "src/half.ll:5:13: error: use of undefined value '%z'");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_EQ(details.input, "src/half.ll");
  EXPECT_EQ(details.log, "half.ll (5, 12): parse use of undefined value '%z'");
}

TEST(IrMessages, NameTheFileWhereTheLogHasNoLine)
{
  EXPECT_EQ(ir_refusal(invalid("half.ll: parse Malformed block")).message,
            "src/half.ll: error: Malformed block");
  EXPECT_EQ(ir_refusal(invalid("half.ll: error: Alias @a")).message,
            "src/half.ll: error: Alias @a");
  EXPECT_EQ(ir_refusal(invalid("something else\nmore")).message,
            "src/half.ll: error: something else");
  EXPECT_EQ(ir_refusal(invalid("error: Error: Empty target\n\n")).message,
            "src/half.ll: error: Empty target");
  EXPECT_EQ(ir_refusal(invalid("")).message, "src/half.ll: error: NVVM_ERROR_INVALID_IR");
}

TEST(IrMessages, TakeNoOtherTextForAPosition)
{
  for (std::string const position : {"(5", "(5,12", "(, 1)", "(5, )", "(x, 1)", "()"})
    EXPECT_THAT(ir_refusal(invalid("half.ll " + position + ": parse it")).message,
                Not(HasSubstr("half.ll:5")))
        << position;
}

TEST(IrMessages, ExplainAnOpaquePointerBelowSm100)
{
  auto const details =
      ir_refusal(invalid("half.ll (2, 16): parse expected type"), {.source = k_load});
  EXPECT_EQ(details.message, "src/half.ll:2:17: error: expected type");
  EXPECT_EQ(
      details.hint,
      "for sm_75, as for every target below sm_100, libNVVM reads the LLVM IR of LLVM 7: give "
      "the pointer a type (float*, not ptr), or compile for sm_100 and newer only, for which "
      "it reads current LLVM IR");
}

TEST(IrMessages, ExplainTheDialectForBitcodeOfAnotherLlvm)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll: parse Invalid value (Producer: 'LLVM14.0.6' Reader: 'LLVM "
                         "7.0.1')"))
          .hint,
      HasSubstr("make the bitcode with that version"));
}

TEST(IrMessages, StateTheDialectOfTheTargetElsewhere)
{
  auto const product = invalid("half.ll (3, 7): parse expected instruction opcode");
  EXPECT_THAT(ir_refusal(product, {.target = "sm_90a", .source = k_load}).hint,
              HasSubstr("for sm_90a, as for every target below sm_100, libNVVM reads the LLVM IR "
                        "of LLVM 7, for sm_100 and newer current LLVM IR"));
  EXPECT_THAT(
      ir_refusal(product, {.target = "sm_100", .source = k_load}).hint,
      HasSubstr("for sm_100 libNVVM reads current LLVM IR, for targets below sm_100 that of "
                "LLVM 7"));
}

TEST(IrMessages, SayHowToStateTheVersion)
{
  for (auto const* log :
       {"IR version 1.0 incompatible with current version 2.0\nhalf.ll: error: incompatible IR "
        "detected. Possible mix of compiler/IR from different releases.",
        "half.ll: error: IR version 1.0 incompatible with current version 2.0\n\nConsider "
        "inserting/updating nvvmir.version module metadata."}) {
    auto const details = ir_refusal({.code = "NVVM_ERROR_IR_VERSION_MISMATCH", .log = log});
    EXPECT_EQ(details.message,
              "src/half.ll: error: IR version 1.0 incompatible with current version 2.0");
    EXPECT_THAT(details.hint, HasSubstr("!nvvmir.version = !{!0} and !0 = !{i32 2, i32 0}"));
  }
}

TEST(IrMessages, SayHowToStateTheTriple)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll: error: Module does not contain a triple, should be 'nvptx64-'"))
          .hint,
      HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
}

TEST(IrMessages, SayHowToStateTheTripleInsteadOfAnotherOne)
{
  auto const details =
      ir_refusal(invalid("error: Error: Invalid target triple (x86_64-pc-linux-gnu), must be one "
                         "of:\nError: 32-bit: nvptx-*-cuda\n"));
  EXPECT_EQ(details.message, "src/half.ll: error: Invalid target triple (x86_64-pc-linux-gnu)");
  EXPECT_THAT(details.hint, HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
}

TEST(IrMessages, SayHowToWriteAConstant)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll (4, 22): parse floating point constant invalid for type")).hint,
      HasSubstr("0x3FB99999A0000000 is 0.1F"));
}

TEST(IrMessages, SayHowToDeclareAFunction)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll (4, 18): parse use of undefined value '@__nv_sinf'")).hint,
      HasSubstr("declare it with its types, such as: declare float @__nv_sinf(float)"));
}

TEST(IrMessages, OfAnUnknownArchitectureSayWhatToInstall)
{
  compile_product const product{
      .code = "NVVM_ERROR_INVALID_OPTION",
      .log = "libnvvm : error: -arch=compute_121 is an unsupported option"};
  EXPECT_THROW(refuse_ir_product(product, {}, {.target = "sm_121"}), unavailable_error);
  auto const details = ir_refusal(product, {.target = "sm_121"});
  EXPECT_EQ(details.message, "src/half.ll: libNVVM 13.0 does not know the architecture sm_121");
  EXPECT_THAT(details.hint, HasSubstr("install a newer libNVVM"));
}

TEST(IrMessages, NameTheIntrinsicThatLibnvvmLacks)
{
  auto const lacks = [](std::string const& name) {
    return ir_refusal(
        invalid("error: Error: :  Function `f' Basic Block `': \n  context:   %h = call "
                "float @" +
                name + "(float %x)\n  Unsupported intrinsic: " + name));
  };
  EXPECT_EQ(lacks("llvm.sin.f32").message,
            "src/half.ll: error: Unsupported intrinsic: llvm.sin.f32");
  EXPECT_EQ(lacks("llvm.sin.f32").hint,
            "call @__nv_sinf of libdevice in its place, which libNVVM adds");
  EXPECT_EQ(lacks("llvm.pow.f64").hint,
            "call @__nv_pow of libdevice in its place, which libNVVM adds");
  EXPECT_EQ(lacks("llvm.other").hint,
            "call functions of libdevice (__nv_...) in its place, which libNVVM adds");
}

TEST(IrMessages, DoNotBlameTheDialectForAnErrorInAStatement)
{
  auto const details =
      ir_refusal(invalid("error: Error: :  Function `f': \n  context:   ret\n  odd"));
  EXPECT_EQ(details.message, "src/half.ll: error: odd");
  EXPECT_EQ(details.hint, "correct the statement that libNVVM's log shows");
}
