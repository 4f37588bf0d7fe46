// SPDX-License-Identifier: Apache-2.0
// Helpers in hosts that reap every child themselves, link in many threads, and fork.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "needs_nvjitlink.hpp"
#include "shipped_links.hpp"

using namespace fatlink;
using fixtures::hostile_nvjitlink;
using fixtures::lto;
using fixtures::next_process;
using fixtures::shipped;
using namespace std::chrono_literals;

namespace {

std::string code_of_link(linker& work)
try {
  (void)work.link(shipped(), lto());
  return "linked";
} catch (error const& failure) {
  return failure.details().code.text();
}

bool is_alive(pid_t process)
{
  return ::kill(process, 0) == 0;
}

bool wait_until_gone(pid_t process)
{
  for (int i = 0; i < 300 && is_alive(process); ++i) std::this_thread::sleep_for(10ms);
  return !is_alive(process);
}

void reap_all(int /*signal*/)
{
  auto const code = errno;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  errno = code;
}

/// What SIGCHLD does, while it lives.
class child_signal {
 public:
  explicit child_signal(void (*handler)(int)) : before_(::signal(SIGCHLD, handler)) {}
  ~child_signal() { ::signal(SIGCHLD, before_); }
  child_signal(child_signal const&) = delete;
  child_signal& operator=(child_signal const&) = delete;

 private:
  void (*before_)(int);
};

/// Starts `sleep` with the number that a dead process had; 0 where that cannot be arranged.
pid_t start_with_number(pid_t number)
{
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::ofstream last("/proc/sys/kernel/ns_last_pid");
    if (!(last << number - 1 << std::flush)) return 0;
    auto const process = ::fork();
    if (process == 0) {
      ::execl("/bin/sleep", "sleep", "60", nullptr);
      ::_exit(127);
    }
    if (process == number) return process;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  return 0;
}

class ReapedHelpers : public fixtures::needs_nvjitlink {};

}  // namespace

TEST_F(ReapedHelpers, StillNameWhatEndedThem)
{
  for (auto* const handler : {&reap_all, SIG_IGN})
    for (auto const& [mode, code] : {std::pair{"crash", "SIGABRT"}, {"exit", "exit status 1"}}) {
      child_signal const taken(handler);
      hostile_nvjitlink const hostile(mode);
      linker work;
      for (int i = 0; i < 5; ++i) EXPECT_EQ(code_of_link(work), code);
    }
}

TEST_F(ReapedHelpers, AreNeverTakenForTheProcessThatHasTheirNumberNow)
{
  child_signal const taken(&reap_all);
  pid_t other = 0;
  {
    linker work;
    ASSERT_EQ(code_of_link(work), "linked");
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    pid_t helper = 0;
    ASSERT_TRUE(children >> helper) << "the helper is not this thread's child";
    ::kill(helper, SIGKILL);
    ASSERT_TRUE(wait_until_gone(helper));
    other = start_with_number(helper);
    if (other == 0) GTEST_SKIP() << "process numbers cannot be chosen here (needs CAP_SYS_ADMIN)";
  }  // ends the idle helpers
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(is_alive(other));
  ::signal(SIGCHLD, SIG_DFL);
  ::kill(other, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(ReapedHelpers, AreFewHoweverManyThreadsLinked)
{
  pid_t last = 0;
  {
    linker work;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 16; ++i)
        threads.emplace_back([&] { EXPECT_EQ(code_of_link(work), "linked"); });
    }
    EXPECT_LE(detail::idle_helper_count(), 4U);
    EXPECT_GE(detail::idle_helper_count(), 1U);
    last = next_process();
  }
  EXPECT_EQ(detail::idle_helper_count(), 0U);
  EXPECT_TRUE(wait_until_gone(last)) << "a helper outlived the last linker";
}

TEST_F(ReapedHelpers, ThatAreAboutToEndAreNotGivenAnotherLink)
{
  fixtures::variable const idle("FATLINK_HELPER_IDLE_SECONDS", "0.2");
  detail::end_idle_helpers();
  linker work;
  for (int pause_ms = 140; pause_ms < 220; pause_ms += 5) {
    EXPECT_EQ(code_of_link(work), "linked") << pause_ms;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
}

TEST_F(ReapedHelpers, ThatEndByThemselvesAreReplacedOnce)
{
  fixtures::variable const idle("FATLINK_HELPER_IDLE_SECONDS", "0.02");
  detail::end_idle_helpers();
  linker work;
  for (int i = 0; i < 30; ++i) EXPECT_EQ(code_of_link(work), "linked") << i;
}

TEST_F(ReapedHelpers, OfTheParentAreNotTouchedByAForkedChild)
{
  linker work;
  ASSERT_EQ(code_of_link(work), "linked");
  auto const helper = next_process();
  auto const child = ::fork();
  if (child == 0) {
    auto const is_empty = detail::idle_helper_count() == 0;
    auto const code = code_of_link(work);
    auto const is_other = next_process() != helper;
    std::exit(is_empty && code == "linked" && is_other ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_alive(helper));
  EXPECT_EQ(next_process(), helper);
  EXPECT_EQ(code_of_link(work), "linked");
}

TEST_F(ReapedHelpers, StartInHostsWhoseStandardStreamsAreClosed)
{
  auto const child = ::fork();
  if (child == 0) {
    for (auto const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    hostile_nvjitlink const hostile("crash");
    linker work;
    ::_exit(code_of_link(work) == "SIGABRT" ? 0 : 1);  // by the socket and the status pipe
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ReapedHelpers, AreNotSharedWithInputsWithoutDigestOrContract)
{
  linker work;
  ASSERT_EQ(code_of_link(work), "linked");
  auto const helper = next_process();
  std::vector<fatbin> const foreign{fatbin::read(places::fixture("library.fatbin")),
                                    fatbin::read(places::fixture("transform.fatbin"))};
  (void)work.link(foreign, lto());
  EXPECT_EQ(detail::idle_helper_count(), 1U);
  EXPECT_EQ(next_process(), helper);
}
