// SPDX-License-Identifier: Apache-2.0
// watch(), which calls functions in a thread of its own. What a version is: watch_test.cpp.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/watch.hpp"
#include "inotify_refusal.hpp"
#include "watched_files.hpp"

using namespace fatlink;
using fixtures::k_longest_wait;
using fixtures::k_watch_limit;

namespace {

/// What a background watch reports.
class BackgroundWatch : public testing::Test {
 protected:
  [[nodiscard]] background_watch start()
  {
    return watch(
        {files_.fatbin()}, [this](std::vector<input> inputs) { note_version(inputs); },
        [this](std::exception const& failure) { note_error(failure); }, {.limit = k_watch_limit});
  }
  digest256 next_version()
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, k_longest_wait, [&] { return !versions_.empty(); });
    if (versions_.empty()) return {};
    auto const first = versions_.front();
    versions_.erase(versions_.begin());
    return first;
  }
  std::string next_error()
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, k_longest_wait, [&] { return !errors_.empty(); });
    if (errors_.empty()) return "none";
    auto const first = errors_.front();
    errors_.erase(errors_.begin());
    return first;
  }

  fixtures::watched_files files_;
  std::atomic<bool> refuses_ = false;  ///< versions

 private:
  void note_version(std::vector<input> const& inputs)
  {
    if (refuses_) throw std::runtime_error("refused");
    std::lock_guard const lock(mutex_);
    versions_.push_back(inputs.front().digest());
    changed_.notify_all();
  }
  void note_error(std::exception const& failure)
  {
    std::lock_guard const lock(mutex_);
    errors_.emplace_back(failure.what());
    if (auto const* known = dynamic_cast<unavailable_error const*>(&failure))
      errors_.back() += "; " + known->details().hint;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<digest256> versions_;
  std::vector<std::string> errors_;
};

}  // namespace

TEST_F(BackgroundWatch, NamesTheLimitsWhereItsThreadCannotBeStarted)
{
  fixtures::no_more_threads const refusal;
  expect_error<unavailable_error>([&] { (void)start(); },
                                  "cannot start a thread in the background: ");
}

TEST_F(BackgroundWatch, CallsWithEachVersion)
{
  files_.write_pair(1);
  auto const watch = start();
  EXPECT_EQ(next_version(), files_.digest(1));
  files_.write_pair(2);
  EXPECT_EQ(next_version(), files_.digest(2));
}

TEST_F(BackgroundWatch, ReportsAnIncompleteVersionAndGoesOn)
{
  files_.write_pair(1);
  auto const watch = start();
  EXPECT_EQ(next_version(), files_.digest(1));
  files_.write_sidecar(2);
  EXPECT_THAT(next_error(), testing::HasSubstr("is not the file that x.json states"));
  files_.write_fatbin(2);
  EXPECT_EQ(next_version(), files_.digest(2));
}

TEST_F(BackgroundWatch, ReportsWhatTheCallThrowsAndGoesOn)
{
  refuses_ = true;
  files_.write_pair(1);
  auto const watch = start();
  EXPECT_EQ(next_error(), "refused");
  refuses_ = false;
  files_.write_pair(2);
  EXPECT_EQ(next_version(), files_.digest(2));
}

TEST_F(BackgroundWatch, ReportsThatInotifyCannotBeUsedAndGoesOn)
{
  fixtures::inotify_refusal const refusal(fixtures::folder_refusal, ENOSPC);
  files_.write_pair(1);
  auto const watch = start();
  EXPECT_THAT(next_error(), testing::EndsWith("raise the sysctl fs.inotify.max_user_watches"));
  EXPECT_EQ(next_version(), files_.digest(1));
  files_.write_pair(2);
  EXPECT_EQ(next_version(), files_.digest(2));
}

TEST_F(BackgroundWatch, CallsInAThreadThatReceivesNoSignals)
{
  files_.write_pair(1);
  std::promise<sigset_t> blocked;
  auto const watch = fatlink::watch(
      {files_.fatbin()},
      [&](auto const&) {
        sigset_t signals;
        (void)pthread_sigmask(SIG_SETMASK, nullptr, &signals);
        blocked.set_value(signals);
      },
      [](auto const&) {});
  auto result = blocked.get_future();
  ASSERT_EQ(result.wait_for(k_longest_wait), std::future_status::ready);
  auto const signals = result.get();
  for (auto const number : {SIGINT, SIGTERM, SIGALRM})
    EXPECT_EQ(sigismember(&signals, number), 1) << number;
}

TEST_F(BackgroundWatch, CanBeDestroyedByItsFunction)
{
  files_.write_pair(1);
  std::optional<background_watch> watch;
  std::promise<void> is_set, is_destroyed;
  watch.emplace(
      std::vector{files_.fatbin()},
      [&](auto const&) {
        is_set.get_future().wait();
        watch.reset();
        is_destroyed.set_value();
      },
      [](auto const&) {});
  is_set.set_value();
  EXPECT_EQ(is_destroyed.get_future().wait_for(k_longest_wait), std::future_status::ready);
}

TEST_F(BackgroundWatch, StopsInTheMiddleOfAWait)
{
  files_.write_sidecar(1);
  auto const watch = start();
}

TEST_F(BackgroundWatch, CanBeDestroyedInAChild)
{
  files_.write_pair(1);
  auto watch = std::optional<background_watch>();
  watch.emplace(
      std::vector{files_.fatbin()}, [](auto const&) {}, [](auto const&) {});
  auto const child = ::fork();
  if (child == 0) {
    watch.reset();
    ::_exit(0);
  }
  auto status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
