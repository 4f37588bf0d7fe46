// SPDX-License-Identifier: Apache-2.0
// Sources and options that a compile refuses.
#include "compile_fixture.hpp"

using namespace fatlink;
using fixtures::k_half;
using testing::HasSubstr;

namespace {

class CompileErrors : public fixtures::CompilerTest {};

}  // namespace

TEST_F(CompileErrors, ShowsTheContractForAWrongType)
{
  auto const details =
      refusal("\nextern \"C\" __device__ double user_transform(float x) { return x; }");
  EXPECT_THAT(details.message, HasSubstr("half.cu:2: error: "));
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_THAT(details.hint, HasSubstr("the contract apply_transform/1 declares: extern \"C\" "
                                      "__device__ float user_transform(float x);"));
}

TEST_F(CompileErrors, RefusesASecondDefinitionAndASyntaxErrorWithTheirLine)
{
  EXPECT_THAT(refusal(std::string(k_half) + k_half).message,
              HasSubstr("half.cu:2: error: function \"user_transform\" has already been defined"));
  EXPECT_THAT(
      refusal("extern \"C\" __device__ float user_transform(float x) { return 0.5F * ; }").message,
      HasSubstr("half.cu:1: error: expected an expression"));
}

TEST_F(CompileErrors, RefusesASourceWithoutTheHook)
{
  for (auto const* text : {"", "__global__ void kernel(float* x) { *x = 1; }"}) {
    auto const details = refusal(text);
    EXPECT_EQ(details.code.text(), "missing-hook");
    EXPECT_THAT(details.message, HasSubstr("neither defines nor calls a hook"));
  }
  EXPECT_THAT(refusal("extern \"C\" __device__ float user_transfrom(float x) { return x; }").hint,
              HasSubstr("did you mean user_transform?"));
  EXPECT_THAT(
      refusal("namespace a { __device__ float user_transform(float x) { return x; } }").hint,
      HasSubstr("declare it extern \"C\""));
}

TEST_F(CompileErrors, ShowsTheAssemblersLine)
{
  auto const details = refusal(
      "extern \"C\" __device__ float user_transform(float x) { asm(\"garbage %0;\" : \"+f\"(x)); "
      "return x; }");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_THAT(details.message, testing::AllOf(HasSubstr("half.cu"), HasSubstr("garbage")));
  EXPECT_THAT(details.hint, HasSubstr("garbage %"));
}

TEST_F(CompileErrors, RefusesOptionsOutOfRange)
{
  auto const expect_usage = [&](compile_options const& options) {
    EXPECT_THROW((void)compile(k_half, options), usage_error);
  };
  expect_usage({.architectures = {}});
  expect_usage({.architectures = {"sm_75", "sm_75"}});
  expect_usage({.standard = "c++11 -I/", .architectures = {"sm_75"}});
  expect_usage({.definitions = {"1X"}, .architectures = {"sm_75"}});
  expect_usage({.contract = "apply_transform", .header = "x.h", .architectures = {"sm_75"}});
  EXPECT_THROW(compiler({.time_limit = std::chrono::seconds(0)}), usage_error);
  EXPECT_THROW(compiler({.memory_limit_mib = 1}), usage_error);
}

TEST_F(CompileErrors, RefusesAContractThatIsNotInstalled)
{
  try {
    (void)compile(k_half, {.contract = "aply_transform", .architectures = {"sm_75"}});
    ADD_FAILURE();
  } catch (file_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::not_installed);
    EXPECT_THAT(failure.details().hint, HasSubstr("did you mean apply_transform?"));
  }
}
