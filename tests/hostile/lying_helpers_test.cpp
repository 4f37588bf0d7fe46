// SPDX-License-Identifier: Apache-2.0
// A helper that an attacker has taken over cannot hurt the host, nor the links of other helpers.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "fatlink/cancel_check.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"
#include "shipped_links.hpp"

using namespace fatlink;
using fixtures::lto;
using fixtures::shipped;
using namespace std::chrono_literals;

namespace {

constexpr auto k_short_limit = 400ms;
constexpr auto k_longest = 2500ms;  ///< the limit, the end of the process, and a busy machine

std::string liar()
{
  return (places::tests() / "lying_helper").string();
}

std::vector<std::string> all_lies()
{
  std::vector<std::string> lies{"early-reply", "second-hello"};
  auto* const output = ::popen((liar() + " --list").c_str(), "r");
  char line[128];
  while (std::fgets(line, sizeof line, output) != nullptr)
    lies.emplace_back(line, std::strcspn(line, "\n"));
  ::pclose(output);
  return lies;
}

/// The host's largest memory so far, bytes.
std::uint64_t peak_memory()
{
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// Makes new helpers tell `lie`, while it lives.
class lying {
 public:
  explicit lying(std::string const& lie) : lie_("FATLINK_LIE", lie) { detail::end_idle_helpers(); }
  ~lying() { detail::end_idle_helpers(); }

 private:
  fixtures::variable lie_;
  fixtures::variable helper_{"FATLINK_LINKD", liar()};
};

/// The code of the error that a link ends with; "linked" where it succeeds.
std::string checked_code_of_link(linker& work)
try {
  (void)work.link(shipped(), lto());
  return "linked";
} catch (error const& failure) {
  EXPECT_THAT(failure.what(), testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_THAT(failure.what(), testing::Not(testing::HasSubstr("\a")));
  return failure.details().code == error_code::defect ? failure.what()
                                                      : failure.details().code.text();
}

class LyingHelpers : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(LyingHelpers, FailTheirOwnLinkInTimeAndNoOther)
{
  linker work({.time_limit = k_short_limit});
  linker patient;
  auto const expected = patient.link(shipped(), lto()).bytes;
  auto const lies = all_lies();
  EXPECT_GE(lies.size(), 45U);
  for (auto const& lie : lies) {
    SCOPED_TRACE(lie);
    auto const start = std::chrono::steady_clock::now();
    std::string code;
    {
      lying const helper(lie);
      code = checked_code_of_link(work);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, k_longest);
    EXPECT_THAT(code, testing::AnyOf("EPROTO", "ETIMEDOUT", "LIE", testing::StartsWith("SIG"),
                                     testing::StartsWith("exit status "), "unknown cause"));
    EXPECT_EQ(patient.link(shipped(), lto()).bytes, expected);
  }
}

TEST_F(LyingHelpers, AreEndedWhenTheCallerCancels)
{
  linker patient({.time_limit = 1h});
  auto const expected = patient.link(shipped(), lto()).bytes;
  {
    lying const helper("reply-announced-silent");
    int asked = 0;
    cancel_check const check([&] { return ++asked == 3; });
    EXPECT_THROW((void)patient.link(shipped(), lto()), cancelled_error);
    EXPECT_EQ(asked, 3);
  }
  EXPECT_EQ(patient.link(shipped(), lto()).bytes, expected);
}

TEST_F(LyingHelpers, TakeNoMemoryByAnnouncingALot)
{
  linker work({.time_limit = k_short_limit});
  auto const before = peak_memory();
  for (auto const* lie : {"start-endless-request", "start-endless-product", "reply-announced-only",
                          "reply-announced-silent", "reply-huge", "reply-endless-request",
                          "reply-endless-of-others"}) {
    lying const helper(lie);
    EXPECT_NE(checked_code_of_link(work), "linked");
  }
  EXPECT_LT(peak_memory() - before, std::uint64_t{64} << 20);
}

TEST_F(LyingHelpers, TakeLittleMoreMemoryThanTheySend)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  linker work({.time_limit = 20s});
  auto const before = peak_memory();
  lying const helper("reply-long-warning");
  EXPECT_EQ(checked_code_of_link(work), "EPROTO");
  EXPECT_LT(peak_memory() - before, std::uint64_t{300} << 20);  // of 100 MiB, in a growing buffer
}

TEST_F(LyingHelpers, LeaveNoImageInTheCacheThatIsNone)
{
  fixtures::folder const folder;
  cache_settings settings;
  settings.folder = folder.path() / "cache";
  linker work({.time_limit = 5s, .cache = std::make_shared<link_cache>(settings)});
  {
    lying const helper("none");  // answers with a product that is no image
    EXPECT_NE(checked_code_of_link(work), "linked");
  }
  EXPECT_EQ(checked_code_of_link(work), "linked");
}

TEST_F(LyingHelpers, ThatSayMoreThanAskedServeNoOtherLink)
{
  lying const lie("extra-reply");
  detail::time_limit const limit(5s);
  auto const helper = detail::link_helper::start({}, limit);
  EXPECT_TRUE(helper->is_ready());
  EXPECT_FALSE(helper->link({}, limit).bytes.empty());
  for (int i = 0; i < 100 && helper->is_ready(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(helper->is_ready());
}
