// SPDX-License-Identifier: Apache-2.0
// Compiles LLVM IR with the libNVVM of this machine, in the helper.
#include <gmock/gmock.h>

#include "fatlink/compiler.hpp"
#include "fixtures.hpp"
#include "nvvm_suite.hpp"
#include "toolkit/nvvm.hpp"
#include "toolkit/toolkit_library.hpp"

using namespace fatlink;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

std::string ptx_of(fatbin const& code)
{
  return read_ptx(code.entries().front());
}

}  // namespace

TEST_F(Nvvm, MakesPtxAndLtoIrOfTextAndOfBitcode)
{
  for (auto const* name : {"half.ll", "half.bc"}) {
    auto const made = compile(text_of(name), {.architectures = {"sm_75", "sm_100"}}, name);
    std::vector<std::string> entries;
    for (auto const& entry : made.code.entries())
      entries.push_back(std::string(to_string(entry.kind)) + ":" + entry.target.name());
    EXPECT_THAT(entries, ElementsAre("ptx:sm_75", "ltoir:sm_75", "ptx:sm_100", "ltoir:sm_100"));
    EXPECT_THAT(made.producer, testing::MatchesRegex("libNVVM 1[0-9]\\.[0-9]+"));
    EXPECT_EQ("libNVVM " + made.code.ident()->toolkit, made.producer);
    EXPECT_THAT(made.warnings, IsEmpty());
    EXPECT_TRUE(made.code.is_verified());
  }
}

TEST_F(Nvvm, MakesTheSameBytesWhateverTheFolder)
{
  auto const here = compile(text_of("half.ll"), for_target("sm_75"), "half.ll");
  auto const there = compile(text_of("half.ll"), for_target("sm_75"), "/some/where/else/half.ll");
  EXPECT_TRUE(std::ranges::equal(here.code.bytes(), there.code.bytes()));
}

TEST_F(Nvvm, AddsTheFunctionsOfLibdeviceThatAreCalled)
{
  for (auto const* name : {"sine.ll", "sine.bc"})
    for (auto const architecture : {target("sm_75"), target("sm_100")})
      EXPECT_THAT(
          ptx_of(compile(text_of(name), for_target(architecture), name).code),
          AllOf(HasSubstr("fma.rn"), Not(HasSubstr("__nv_sinf")), Not(HasSubstr("__nv_cosf"))))
          << name;
}

TEST_F(Nvvm, RefusesAFunctionThatLibdeviceDoesNotHave)
{
  auto code = text_of("sine.ll");
  for (auto at = code.find("sinf"); at != std::string::npos; at = code.find("sinf"))
    code.replace(at, 4, "foo");
  auto const details = refusal(code, for_target("sm_75"));
  EXPECT_EQ(details.message, "half.ll: calls __nv_foo, which libdevice does not have");
  EXPECT_TRUE(details.code == error_code::compile_failed);
}

TEST_F(Nvvm, PassesFloatFlagsAndLinesOn)
{
  auto options = for_target("sm_75");
  options.float_flags = {.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = false};
  options.line_info = true;
  auto const made = compile(changed("fmul float %x, 5.0e-1", "fdiv float 1.0, %x"), options);
  EXPECT_EQ(made.code.entries().front().options, "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=0");
  EXPECT_THAT(ptx_of(made.code), HasSubstr(".approx.ftz.f32"));
}

TEST_F(Nvvm, WarnsThatHeadersAndMacrosHaveNoEffect)
{
  auto options = for_target("sm_75");
  options.definitions = {"FACTOR=2"};
  EXPECT_THAT(compile(text_of("half.ll"), options).warnings,
              ElementsAre("half.ll: headers, their folders, macros and the C++ standard have no "
                          "effect on LLVM IR"));
}

TEST_F(Nvvm, MakesNoCubins)
{
  EXPECT_THROW((void)compile(text_of("half.ll"), {.architectures = {"sm_75"}, .sass = {"sm_90"}}),
               usage_error);
}

TEST_F(Nvvm, ShowsLineAndColumnOfAnError)
{
  auto const details = refusal(changed("ret float %y", "ret float %z"), for_target("sm_75"));
  EXPECT_EQ(details.message, "half.ll:8:13: error: use of undefined value '%z'");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_THAT(details.hint, HasSubstr("for sm_75, as for every target below sm_100"));
}

TEST_F(Nvvm, ReadsOpaquePointersFromSm100On)
{
  for (auto const* name : {"opaque.ll", "opaque.bc"}) {
    EXPECT_NO_THROW((void)compile(text_of(name), for_target("sm_100"), name));
    EXPECT_THAT(refusal(text_of(name), for_target("sm_75"), name).hint,
                HasSubstr("compile for sm_100 and newer only"));
    EXPECT_THAT(refusal(text_of(name), {.architectures = {"sm_100", "sm_90"}}, name).hint,
                HasSubstr("for sm_90, as"));
  }
  EXPECT_THAT(refusal(text_of("opaque.ll"), for_target("sm_75")).message,
              testing::StartsWith("half.ll:8:28: error: "));
}

TEST_F(Nvvm, SaysHowToStateVersionAndTriple)
{
  EXPECT_THAT(refusal(changed("!nvvmir.version", "!other"), for_target("sm_75")).hint,
              HasSubstr("!nvvmir.version = !{!0}"));
  EXPECT_THAT(refusal(changed("target triple", "; target triple"), for_target("sm_75")).hint,
              HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
}

TEST_F(Nvvm, SaysHowToStateTheDataLayout)
{
  for (auto const architecture : {target("sm_75"), target("sm_100")}) {
    auto const details = refusal(changed("target datalayout", "; "), for_target(architecture));
    EXPECT_EQ(details.message, "half.ll: states no target datalayout");
    EXPECT_THAT(details.hint, HasSubstr("target datalayout = \"e-p:64:64:64-"));
  }
}

TEST_F(Nvvm, RefusesAnEmptyText)
{
  for (auto const* text : {"", " \n", "; SPDX\n\n; nothing"})
    EXPECT_EQ(refusal(text, for_target("sm_75")).message,
              "half.ll: is empty: it defines no function");
}

TEST_F(Nvvm, DamagedBitcodeFailsOnlyItsOwnCompile)
{
  auto const good = text_of("sine.bc");
  for (std::size_t size = 4; size < good.size(); size += 64)
    EXPECT_THROW((void)compile(good.substr(0, size), for_target("sm_75"), "cut.bc"), compile_error)
        << size;
  for (std::size_t place = 8; place < good.size(); place += 48) {
    auto damaged = good;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
    try {
      (void)compile(damaged, for_target("sm_75"), "damaged.bc");
    } catch (compile_error const& failure) {
      EXPECT_THAT(failure.what(), testing::StartsWith("damaged.bc: "));
      EXPECT_NE(failure.details().hint, "");
    }
  }
  EXPECT_NO_THROW((void)compile(good, for_target("sm_75"), "sine.bc"));
}

TEST_F(Nvvm, IsNotOpenedForACachedCompile)
{
  fixtures::folder const folder;
  auto const compile_cached = [&](std::string const& name) {
    compiler cached(
        {.cache = std::make_shared<link_cache>(cache_settings{.folder = folder.path() / "cache"})});
    return cached.compile(source::from_text(text_of(name), "x.ll"), for_target("sm_75"));
  };
  EXPECT_EQ(compile_cached("sine.ll").cache, cache_outcome::miss);
  auto const second = compile_cached("sine.ll");
  EXPECT_EQ(second.cache, cache_outcome::hit);
  EXPECT_EQ(second.times.open_ms, 0);
  EXPECT_THAT(second.producer, testing::StartsWith("libNVVM 1"));
  EXPECT_EQ(compile_cached("half.ll").cache, cache_outcome::miss);
}

TEST(NvvmMissing, SaysWhatToInstall)
{
  compiler tool({.libnvvm = "/nowhere/libnvvm.so.4"});
  try {
    (void)tool.compile(source::from_text(text_of("half.ll"), "half.ll"),
                       {.architectures = {"sm_75"}});
    ADD_FAILURE();
  } catch (unavailable_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::nvvm_unavailable);
    EXPECT_THAT(failure.what(), HasSubstr("/nowhere/libnvvm.so.4"));
    EXPECT_THAT(failure.details().hint, AllOf(HasSubstr("libnvvm-13-0"), HasSubstr("nvidia-nvvm")));
  }
}
