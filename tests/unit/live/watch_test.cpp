// SPDX-License-Identifier: Apache-2.0
// Each behaviour of input_watch with inotify, and by looking at the files.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/watch.hpp"
#include "inotify_refusal.hpp"
#include "watched_files.hpp"

using namespace fatlink;
using fixtures::k_longest_wait;
using fixtures::k_watch_limit;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds k_no_longer(250);  // for what must not come

class InputWatch : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] watch_options options() const
  {
    return {.limit = k_watch_limit, .use_inotify = GetParam()};
  }
  /// Waits for version `number`.
  void expect_version(input_watch& watch, int number) const
  {
    auto const inputs = watch.wait(k_longest_wait);
    ASSERT_TRUE(inputs);
    EXPECT_EQ(inputs->front().digest(), files_.digest(number));
  }

  fixtures::watched_files files_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(With, InputWatch, testing::Bool(),
                         [](auto const& with) { return with.param ? "Events" : "Looks"; });

TEST_P(InputWatch, ReturnsTheVersionThatIsThere)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  EXPECT_THAT(watch.sidecars(), testing::ElementsAre(files_.sidecar_text(1)));
}

TEST_P(InputWatch, ReturnsAVersionWhoseSidecarCameFirst)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_sidecar(2);
  EXPECT_FALSE(watch.wait(milliseconds(20)));
  files_.write_fatbin(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, ReturnsAVersionWhoseFatbinCameFirst)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_fatbin(2);
  EXPECT_FALSE(watch.wait(milliseconds(20)));
  files_.write_sidecar(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, ReturnsAllInputsWhenOneHasChanged)
{
  files_.write_pair(1);
  auto const other = files_.folder().write("other.fatbin", files_.text_of(2));
  input_watch watch({other, files_.fatbin()}, options());
  ASSERT_TRUE(watch.wait(k_longest_wait));
  files_.write_pair(2);
  auto const inputs = watch.wait(k_longest_wait);
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ(inputs->at(0).name(), other);
  EXPECT_EQ(inputs->at(1).digest(), files_.digest(2));
}

TEST_P(InputWatch, TakesAnyLimitAndTimeout)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, {.limit = milliseconds::max()});
  EXPECT_TRUE(watch.wait(milliseconds::min()));
  files_.write_fatbin(2);
  EXPECT_FALSE(watch.wait(k_no_longer));
}

TEST_P(InputWatch, ThrowsAnIncompleteVersionOnceAndGoesOn)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_fatbin(2);
  expect_error<format_error>([&] { (void)watch.wait(k_longest_wait); },
                             "x.fatbin: is not the file that x.json states");
  EXPECT_FALSE(watch.wait(k_no_longer));
  files_.write_sidecar(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, WaitsForFilesThatDoNotExistYet)
{
  auto const late = files_.folder().path() / "sub/late.fatbin";
  input_watch watch({late}, options());
  expect_error<file_error>([&] { (void)watch.wait(k_longest_wait); }, "late.fatbin: no such file");
  std::filesystem::create_directory(files_.folder().path() / "sub");
  files_.folder().write("sub/late.fatbin", files_.text_of(1));
  expect_version(watch, 1);
}

TEST_P(InputWatch, DoesNotReturnKnownInputs)
{
  files_.write_pair(1);
  auto changed = options();
  changed.known = {input::read(files_.fatbin())};
  input_watch watch({files_.fatbin()}, changed);
  EXPECT_FALSE(watch.wait(k_no_longer));
  files_.write_pair(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, DoesNotReturnTheSameBytesAgain)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_pair(1);
  EXPECT_FALSE(watch.wait(k_no_longer));
}

TEST_P(InputWatch, ReturnsAVersionOfWhichOnlyTheSidecarIsNew)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  files_.write_sidecar(1, R"(, "name": "other")");
  expect_version(watch, 1);
  EXPECT_THAT(watch.sidecars().front(), testing::HasSubstr("other"));
}

TEST_P(InputWatch, TakesAFileWithoutDigestWhenItIsNoLongerWritten)
{
  files_.write_fatbin(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  for (int i = 0; i < 30; ++i) {  // for longer than it must be unchanged
    files_.write_fatbin(2 - i % 2);
    EXPECT_FALSE(watch.wait(milliseconds(5)));
  }
  files_.write_fatbin(2);
  expect_version(watch, 2);
}

TEST_P(InputWatch, KeepsTheFolderOfRelativePaths)
{
  files_.write_pair(1);
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(files_.folder().path());
  input_watch watch({"x.fatbin"}, options());
  std::filesystem::current_path(before);
  expect_version(watch, 1);
}

TEST_P(InputWatch, IsStoppedByAnotherThread)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  std::jthread const stopping([&] {
    std::this_thread::sleep_for(milliseconds(5));
    watch.stop();
  });
  EXPECT_FALSE(watch.wait(milliseconds::max()));
  EXPECT_TRUE(watch.is_stopped());
}

TEST_P(InputWatch, GoesOnInParentAndChild)
{
  files_.write_pair(1);
  input_watch watch({files_.fatbin()}, options());
  expect_version(watch, 1);
  auto const child = ::fork();
  if (child == 0) {
    auto const inputs = watch.wait(k_longest_wait);
    ::_exit(inputs && inputs->front().digest() == files_.digest(2) ? 0 : 1);
  }
  files_.write_pair(2);
  expect_version(watch, 2);
  auto status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(InputWatchArguments, AreChecked)
{
  expect_error<usage_error>([] { input_watch watch({}); }, "no file to watch");
  expect_error<usage_error>(
      [] {
        input_watch watch({"a", "b"}, {.known = {fixtures::fatbin("raw.fatbin")}});
      },
      "2 files to watch, and 1 known inputs");
  expect_error<usage_error>([] { input_watch watch({"a"}, {.limit = milliseconds(0)}); },
                            "the limit of a watch is 0 ms");
  expect_error<usage_error>([] { auto w = watch({"a"}, nullptr, [](auto&) {}); },
                            "a watch without a function for versions, or for errors");
  expect_error<usage_error>(
      [] {
        auto w = watch(
            {"a"}, [](auto) {}, nullptr);
      },
      "a watch without a function for versions, or for errors");
}

// watch(), which calls functions in a thread of its own.

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
