// SPDX-License-Identifier: Apache-2.0
// Sources that attack the compiler: the host and the next compile are not affected.
// FATLINK_TEST_SCALE=N makes the series N times as long.
#include <sys/resource.h>

#include <csignal>
#include <future>
#include <thread>

#include "compile_fixture.hpp"
#include "environment.hpp"
#include "sanitizers.hpp"
#include "test_scale.hpp"

using namespace fatlink;
using fixtures::k_half;
using testing::HasSubstr;

namespace {

/// An array of 2^39 times `first`.
std::string macro_bomb(std::string const& first, std::string const& separator)
{
  std::string text = "#define A0 " + first + "\n";
  for (int i = 1; i < 40; ++i) {
    auto const before = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + ' ' + before + separator + before + '\n';
  }
  return text + "__device__ int numbers[] = {A39};\n";
}

/// Endless, deep, too large, or reading other files.
std::vector<std::string> const& hostile_sources()
{
  std::string const parentheses(2'000'000, '(');
  static std::vector<std::string> const sources{
      macro_bomb("1,1", ","),
      macro_bomb("\"0123456789abcdef\"", " "),
      "__device__ int n = " + parentheses + "1" + std::string(parentheses.size(), ')') + ";",
      "template <int A, long long B> struct tree { enum { value = tree<A - 1, 2 * B>::value + "
      "tree<A - 1, 2 * B + 1>::value }; };\n"
      "template <long long B> struct tree<0, B> { enum { value = 1 }; };\n"
      "__device__ int n = tree<60, 1>::value;",
      "#include \"/etc/passwd\"",
      "#include </dev/zero>",
      "#error " + std::string(1'000'000, 'e')};
  return sources;
}

class HostileSources : public fixtures::CompilerTest {};

}  // namespace

TEST_F(HostileSources, StopsAtTheTimeLimitAndGoesOn)
{
  compiler limited({.time_limit = std::chrono::seconds(1)});
  try {
    (void)limited.compile(source::from_text(macro_bomb("1,1", ","), "bomb.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::compile_timeout ||
                failure.details().code == error_code::compile_memory)
        << failure.details().code.text();
    EXPECT_THAT(failure.what(), HasSubstr("bomb.cu: the compile"));
  }
  EXPECT_NO_THROW((void)compile(k_half));
}

TEST_F(HostileSources, DoNotKeepTheSameCompileLongerThanItsOwnTimeLimit)
{
  auto const shared = std::make_shared<link_cache>(cache_settings{});
  auto const compile_bomb = [&](std::chrono::milliseconds limit) {
    compiler limited({.time_limit = limit, .cache = shared});
    (void)limited.compile(source::from_text(macro_bomb("", " "), "endless.cu"), contract());
  };
  auto const first = std::async(std::launch::async, compile_bomb, std::chrono::seconds(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // so that it has begun
  auto const limit = std::chrono::milliseconds(700);
  EXPECT_THROW(compile_bomb(limit), compile_error);
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

TEST_F(HostileSources, StopAtTheTimeLimitWhileTheirHeadersAreSearched)
{
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "#if __has_include(<" + std::to_string(i) + ">)\n#endif\n";
  compiler limited({.time_limit = std::chrono::milliseconds(100)});
  try {
    (void)limited.compile(source::from_text(text, "many.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {  // of the compiler, or of the host, whichever notices
    EXPECT_EQ(failure.details().code, error_code::compile_timeout);
    EXPECT_THAT(failure.what(), HasSubstr("many.cu: "));
  }
}

TEST_F(HostileSources, LeavesTheHostIntactAfterHostileSources)
{
  if (fixtures::is_emulated()) GTEST_SKIP() << "the emulator does not limit the address space";
  auto const stack_limit = [] {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_STACK, &limit);
    return limit.rlim_cur;
  };
  auto const segv_handler = [] {
    struct sigaction action {};
    (void)::sigaction(SIGSEGV, nullptr, &action);
    return action.sa_handler;
  };
  auto const stack_before = stack_limit();
  auto const handler_before = segv_handler();
  auto const expected = compile(k_half).code.digest();
  compiler limited({.time_limit = std::chrono::milliseconds(500), .memory_limit_mib = 256});
  auto const rounds = fixtures::scaled(hostile_sources().size());
  for (std::size_t i = 0; i < rounds; ++i) {
    auto const& text = hostile_sources()[i % hostile_sources().size()];
    EXPECT_THROW((void)limited.compile(source::from_text(text, "hostile.cu"), contract()),
                 compile_error)
        << text.substr(0, 80);
    EXPECT_EQ(compile(k_half).code.digest(), expected);
  }
  EXPECT_EQ(stack_limit(), stack_before);
  EXPECT_EQ(segv_handler(), handler_before);
}

TEST_F(HostileSources, ReportsTheLackOfMemory)
{
  if (fixtures::k_has_sanitizer) GTEST_SKIP() << "sanitizers map more than any limit";
  if (fixtures::is_emulated()) GTEST_SKIP() << "the emulator does not limit the address space";
  compiler limited({.memory_limit_mib = 128});
  try {
    (void)limited.compile(source::from_text(macro_bomb("1,1", ","), "bomb.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::compile_memory) << failure.what();
    EXPECT_THAT(failure.what(),
                HasSubstr("bomb.cu: the compile needed more than its memory limit of 128 MiB"));
    EXPECT_THAT(failure.details().hint, HasSubstr("compiler_settings::memory_limit_mib"));
  }
}
