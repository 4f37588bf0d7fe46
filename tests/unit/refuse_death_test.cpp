// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_messages.hpp"

#include <gmock/gmock.h>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::HasSubstr;

namespace {

constexpr std::uint64_t k_mib = 1024;  // in KiB
compiler_settings const k_settings{.time_limit = std::chrono::milliseconds(1500),
                                   .memory_limit_mib = 256};

error_details death_of(helper_death const& death)
{
  try {
    refuse_death(death, "src/half.cu", k_settings);
  } catch (compile_error const& failure) {
    EXPECT_EQ(failure.where(), stage::compiler);
    return failure.details();
  }
}

}  // namespace

TEST(RefuseDeath, AtTheTimeLimitIsATimeout)
{
  auto const details = death_of({.reason = "ETIMEDOUT", .peak_kib = 2048 * k_mib});
  EXPECT_TRUE(details.code == error_code::compile_timeout);
  EXPECT_EQ(details.message,
            "src/half.cu: the compile took longer than its time limit of 1.5 s; the compiler's "
            "process was stopped");
  EXPECT_THAT(details.hint, HasSubstr("compiler_settings::time_limit"));
  EXPECT_EQ(details.input, "src/half.cu");
}

TEST(RefuseDeath, NearTheMemoryLimitIsALackOfMemory)
{
  for (auto const* reason : {"SIGSEGV", "SIGABRT", "SIGKILL"}) {
    auto const details = death_of({.reason = reason, .peak_kib = 300 * k_mib});
    EXPECT_TRUE(details.code == error_code::compile_memory) << reason;
    EXPECT_EQ(details.message,
              "src/half.cu: the compile needed more than its memory limit of 256 MiB");
    EXPECT_THAT(details.hint, HasSubstr("compiler_settings::memory_limit_mib"));
  }
}

TEST(RefuseDeath, OtherwiseHasTheSignalAndWhatIsLikely)
{
  auto const expect = [](char const* reason, char const* verb, char const* hint) {
    for (std::uint64_t const peak_mib : {0, 66, 200}) {
      auto const details = death_of({.reason = reason, .peak_kib = peak_mib * k_mib});
      EXPECT_EQ(details.code.text(), reason);
      EXPECT_EQ(details.message,
                detail::format("src/half.cu: the compiler{} compiling it ({})", verb, reason));
      EXPECT_THAT(details.hint, HasSubstr(hint));
      EXPECT_THAT(details.hint, HasSubstr("the next compile is not affected"));
    }
  };
  expect("SIGSEGV", " crashed", "nest too deep use up the compiler's stack");
  expect("SIGABRT", " crashed", "raise compiler_settings::memory_limit_mib");
  expect("SIGKILL", "'s process died", "simplify the source");
}

TEST(RefuseDeath, ShowsWhatWasInvalidInAReply)
{
  EXPECT_THAT(death_of({.reason = "EPROTO", .cause = "a reply to another request"}).message,
              HasSubstr("died compiling it (a reply to another request)"));
}

TEST(OutOfMemory, IsACodeOrALineOfTheLog)
{
  for (auto const* code : {"NVRTC_ERROR_OUT_OF_MEMORY", "NVVM_ERROR_OUT_OF_MEMORY"})
    EXPECT_TRUE(is_out_of_memory({.code = code})) << code;
  for (auto const* log : {"bomb.cu(41): catastrophic error: out of memory\n",
                          "LLVM ERROR: out of memory", "ptxas fatal   : Memory allocation failure"})
    EXPECT_TRUE(is_out_of_memory({.code = "NVRTC_ERROR_COMPILATION", .log = log})) << log;
  EXPECT_FALSE(is_out_of_memory(
      {.code = "NVRTC_ERROR_COMPILATION", .log = "half.cu(1): error: no memory of x"}));
}
