// SPDX-License-Identifier: Apache-2.0
// Compiles LLVM IR for a contract.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "fatlink/compiler.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "nvvm_suite.hpp"
#include "toolkit/nvrtc.hpp"
#include "toolkit/toolkit_library.hpp"

using namespace fatlink;
using testing::HasSubstr;

namespace {

/// With the contract, whose header NVRTC reads.
class NvvmContract : public Nvvm {
 protected:
  void SetUp() override
  {
    Nvvm::SetUp();
    if (!IsSkipped() && !detail::locate_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  }
  static compile_options contract()
  {
    return {.contract = "apply_transform", .architectures = {"sm_75"}};
  }
};

}  // namespace

TEST_F(NvvmContract, StatesTheContractAndLinks)
{
  auto const made = compile(text_of("sine.ll"), contract());
  ASSERT_TRUE(made.code.ident());
  EXPECT_EQ(made.code.ident()->contract, "apply_transform");
  EXPECT_EQ(made.code.ident()->hooks,
            (std::map<std::string, std::string>{{"user_transform", "FffE"}}));
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    auto const image = linker().link({fatbin::find("apply_transform"), made.code},
                                     {.target = "sm_90", .mode = mode});
    EXPECT_EQ(image.inlined(), mode == link_mode::lto);
  }
}

TEST_F(NvvmContract, CompilesInMoreThreadsThanThereMayBeHelpers)
{
  compiler shared({.time_limit = std::chrono::seconds(20)});
  std::atomic<int> compiled = 0;
  std::vector<std::thread> threads;
  auto const count = 2 * std::max(2 * std::thread::hardware_concurrency(), 4U);
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&] {
      auto tool = shared;
      (void)tool.compile(source::from_text(text_of("half.ll"), "half.ll"), contract());
      ++compiled;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(compiled, static_cast<int>(count));
}

TEST_F(NvvmContract, ShowsTheContractForAnotherType)
{
  for (auto const* type : {"double @user_transform(double %x) {\n  %y = fmul double %x, 5.0e-1\n"
                           "  ret double %y",
                           "float @user_transform(float %x, float %z) {\n"
                           "  %y = fmul float %x, %z\n  ret float %y",
                           "i32 @user_transform(i32 %x) {\n  ret i32 %x"}) {
    auto const details =
        refusal(changed("float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n"
                        "  ret float %y",
                        type),
                contract());
    EXPECT_EQ(details.code.text(), "signature-mismatch") << type;
    EXPECT_THAT(details.message, HasSubstr("half.ll: defines "));
    EXPECT_EQ(details.hint,
              "the contract apply_transform/1 declares: extern \"C\" __device__ float "
              "user_transform(float x);");
  }
}

TEST_F(NvvmContract, CompilesBesideSourcesThatNeedTheSameTypes)
{
  if (!detail::locate_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  fixtures::folder const folder;
  compiler cached(
      {.cache = std::make_shared<link_cache>(cache_settings{.folder = folder.path() / "cache"})});
  auto const ir = text_of("half.ll");
  std::string const cuda =
      "extern \"C\" __device__ float user_transform(float x) { return 0.5F * x; }\n";
  std::atomic<unsigned> compiled = 0;
  std::vector<std::thread> threads;
  auto const count = 2 * std::max(2 * std::thread::hardware_concurrency(), 4U);
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      auto const code = i % 4 == 3 ? source::from_text(ir, std::to_string(i) + ".ll")
                                   : source::from_text(cuda, std::to_string(i) + ".cu");
      if (cached.compile(code, contract()).code.ident()) ++compiled;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(compiled, count);
}

TEST_F(NvvmContract, RefusesAModuleWithoutTheHook)
{
  auto const details = refusal(changed("@user_transform", "@user_transfrom"), contract());
  EXPECT_EQ(details.code.text(), "missing-hook");
  EXPECT_THAT(details.hint, HasSubstr("did you mean user_transform?"));
  EXPECT_EQ(refusal("; nothing\n", contract()).code.text(), "missing-hook");
}
