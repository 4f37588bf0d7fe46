// SPDX-License-Identifier: Apache-2.0
// The link helper: what happens to it stays with it.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "expect_error.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fixtures.hpp"
#include "needs_nvjitlink.hpp"
#include "shipped_links.hpp"

using namespace fatlink;
using fixtures::hostile_nvjitlink;
using fixtures::lto;
using fixtures::next_process;
using fixtures::shipped;
using namespace std::chrono_literals;

namespace {

detail::time_limit within(std::chrono::milliseconds length)
{
  return detail::time_limit(length);
}

std::string code_of(linker& with)
try {
  (void)with.link(shipped(), lto());
  return "linked";
} catch (link_error const& failed) {
  EXPECT_THAT(failed.what(), testing::HasSubstr("apply_transform.fatbin"));
  EXPECT_FALSE(failed.details().hint.empty());
  return failed.details().code.text();
}

class LinkHelper : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(LinkHelper, MakesWhatAnInProcessLinkMakes)
{
  linker apart;
  linker here({.isolation = isolation::in_process});
  EXPECT_EQ(apart.link(shipped(), lto()).bytes, here.link(shipped(), lto()).bytes);
}

TEST_F(LinkHelper, SurvivesFromLinkToLink)
{
  linker with;
  auto const before = next_process();
  EXPECT_EQ(code_of(with), "linked");
  EXPECT_EQ(next_process(), before);
}

TEST_F(LinkHelper, KilledInTheMiddleOfALinkFailsThatLinkAlone)
{
  linker with;
  auto const process = next_process();
  ::kill(process, SIGSTOP);  // so that the link is surely under way when it is killed
  std::string first;
  {
    std::jthread const linking([&] { first = code_of(with); });
    std::this_thread::sleep_for(100ms);
    ::kill(process, SIGKILL);
  }
  EXPECT_EQ(first, "SIGKILL");
  EXPECT_EQ(code_of(with), "linked");
  EXPECT_NE(next_process(), process);
}

TEST_F(LinkHelper, ThatTakesTooLongIsStopped)
{
  linker hasty({.time_limit = 200ms});
  ::kill(next_process(), SIGSTOP);
  EXPECT_EQ(code_of(hasty), "ETIMEDOUT");
  linker with;
  EXPECT_EQ(code_of(with), "linked");
}

TEST_F(LinkHelper, ServesThreadsSideBySide)
{
  std::atomic<int> linked = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        linker with;
        for (int k = 0; k < 3; ++k) linked += code_of(with) == "linked" ? 1 : 0;
      });
  }
  EXPECT_EQ(linked, 12);
}

TEST_F(LinkHelper, DeathsAreNamed)
{
  for (auto const& [mode, code] : {std::pair{"crash", "SIGABRT"}, {"exit", "exit status 1"}}) {
    hostile_nvjitlink const taken(mode);
    linker with;
    EXPECT_EQ(code_of(with), code);
  }
  linker with;
  EXPECT_EQ(code_of(with), "linked");
}

TEST(HostileHelper, DeathsNameTheSassWithoutDigestAsTheLikelyCause)
{
  hostile_nvjitlink const taken("crash");
  auto const bare = fixtures::bytes("forms/relocatable.cubin");
  std::vector<input> const inputs{fixtures::verified("library_sass.fatbin"),
                                  input::from_bytes(bare, "bare.cubin")};
  try {
    (void)linker().link(inputs, {.target = "sm_90", .mode = link_mode::sass});
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_EQ(failed.details().code, "SIGABRT");
    EXPECT_THAT(failed.details().hint,
                testing::StartsWith("the likely cause is damage to bare.cubin: SASS without a "
                                    "digest, which nvJitLink does not check; build it again"));
  }
}

TEST(HostileHelper, DeathsWithVerifiedInputsNameNoCause)
{
  hostile_nvjitlink const taken("crash");
  try {
    (void)linker().link(shipped(), lto());
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_THAT(failed.details().hint,
                testing::StartsWith("an input may be damaged: build it again"));
  }
}

TEST(HostileHelper, HangsAreStopped)
{
  hostile_nvjitlink const taken("hang");
  linker with({.time_limit = 300ms});
  EXPECT_EQ(code_of(with), "ETIMEDOUT");
}

TEST(HostileHelper, ThatTakesTooLongIsReportedWithTheTimeLimit)
{
  hostile_nvjitlink const taken("hang");
  linker with({.time_limit = 300ms});
  try {
    (void)with.link(shipped(), lto());
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_THAT(failed.what(), testing::HasSubstr("longer than its time limit of 0.3 s"));
    EXPECT_THAT(failed.details().hint, testing::StartsWith("raise linker_settings::time_limit;"));
  }
}

TEST(HelperRequest, OfMoreThanOneEntryIsRefusedByTheHelper)
{
  auto const whole = fixtures::bytes("two_types_sass.fatbin");
  hostile_nvjitlink const taken("print nothing");  // an nvJitLink that would link anything
  auto const helper = detail::link_helper::start({}, within(5s));
  expect_error<link_error>(
      [&] {
        (void)helper->link({.emit = image_kind::cubin,
                            .options = {"-arch=sm_90"},
                            .inputs = {{"t.fatbin", whole}}},
                           within(5s));
      },
      "2 entries");
}

TEST(HostileHelper, CannotReachFilesNetworkOrOtherProcesses)
{
  hostile_nvjitlink const taken("reach");
  linker with;
  try {
    (void)with.link(shipped(), lto());
    ADD_FAILURE() << "linked";
  } catch (link_error const& failed) {
    EXPECT_THAT(
        failed.details().log,
        testing::HasSubstr("open: Operation not permitted; create: Operation not permitted; "
                           "socket: Operation not permitted; kill: Operation not permitted; "
                           "exec: Operation not permitted;"));
  }
}

TEST_F(LinkHelper, ThatDiedWhileItWaitedIsReplaced)
{
  linker with;
  auto const process = next_process();
  ::kill(process, SIGKILL);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(code_of(with), "linked");
}

TEST_F(LinkHelper, WarnsOfAnIdleTimeThatIsNotANumber)
{
  fixtures::variable const idle("FATLINK_HELPER_IDLE_SECONDS", "abc");
  EXPECT_THAT(linker().link(shipped(), lto()).warnings,
              testing::Contains(testing::HasSubstr(
                  "FATLINK_HELPER_IDLE_SECONDS: 'abc' is not a number of seconds")));
}

TEST(HelperStart, ThatIsNotThereIsNamed)
{
  fixtures::variable const linkd("FATLINK_LINKD", "/nowhere/fatlink-linkd");
  expect_error<unavailable_error>([] { (void)detail::link_helper::start({}, within(1s)); },
                                  "/nowhere/fatlink-linkd (from $FATLINK_LINKD)");
  ::setenv("FATLINK_LINKD", "/bin/true", 1);
  expect_error<unavailable_error>([] { (void)detail::link_helper::start({}, within(1s)); },
                                  "/bin/true ended");
  ::setenv("FATLINK_LINKD", "/bin/cat", 1);
  expect_error<unavailable_error>([] { (void)detail::link_helper::start({}, within(300ms)); },
                                  "/bin/cat did not start within 0.3 s");
}

TEST(HelperStart, SaysWhatNvjitlinkItLacks)
{
  fixtures::variable const nvjitlink("FATLINK_NVJITLINK", "/nowhere/libnvJitLink.so");
  expect_error<unavailable_error>([] { (void)detail::link_helper::start({}, within(5s)); },
                                  "/nowhere/libnvJitLink.so");
}
