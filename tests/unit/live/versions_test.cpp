// SPDX-License-Identifier: Apache-2.0
// When versions are unloaded, on a device whose work the test finishes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "asynchronous_device.hpp"
#include "live/background_thread.hpp"
#include "live/versions.hpp"
#include "live_fixture.hpp"

using namespace fatlink;
using fatlink::detail::newest_job;
using fixtures::comes_true;
using fixtures::store_inputs;

namespace {

class Publication : public testing::Test {
 protected:
  void TearDown() override { backend_->finish(); }

  /// Gives the thread that unloads versions the time to do so wrongly.
  [[nodiscard]] bool stays(int loaded) const
  {
    for (int i = 0; i < 50; ++i) {
      if (backend_->loaded() != loaded) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  [[nodiscard]] bool becomes(int loaded) const
  {
    return comes_true([&] { return backend_->loaded() == loaded; });
  }

  std::shared_ptr<fixtures::asynchronous_device> backend_ =
      std::make_shared<fixtures::asynchronous_device>();
  fixtures::live_store store_{device(backend_)};
};

}  // namespace

TEST_F(Publication, UnloadsAVersionThatNothingUsed)
{
  store_.live.swap(store_inputs(1));
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, UnloadsAVersionOnlyAfterTheDeviceHasFinishedItsLaunches)
{
  store_.live.swap(store_inputs(1));
  (void)store_.launch(store_.kernel());
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, KeepsAVersionWhileALaunchOfItIsInProgress)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  std::promise<void> is_launching;
  std::promise<void> may_go_on;
  backend_->during_launch = [&] {
    is_launching.set_value();
    may_go_on.get_future().wait();
  };
  auto value = std::async(std::launch::async, [&] { return store_.launch(store); });
  is_launching.get_future().wait();
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  may_go_on.set_value();
  EXPECT_EQ(value.get(), 1);
  backend_->during_launch = nullptr;
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, WaitsForTheLaunchesOfEveryStream)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  (void)store_.launch(store, backend_->stream_of(1));
  backend_->finish();
  (void)store_.launch(store, backend_->stream_of(2));
  (void)store_.launch(store, backend_->stream_of(1));
  EXPECT_EQ(backend_->events(), 2U) << "one for each stream";
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  backend_->finish();
  EXPECT_TRUE(becomes(1));
}

TEST_F(Publication, TellsStreamsApartThatHaveOneHandleAfterAnother)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  auto* const first = backend_->stream_of(1);
  (void)store_.launch(store, first);
  auto* const second = backend_->stream_of(2);
  ASSERT_EQ(first, second);
  (void)store_.launch(store, second);
  EXPECT_EQ(backend_->events(), 2U);
}

TEST_F(Publication, UsesTheEventsOfStreamsThatHaveGoneAgain)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  for (std::uint64_t id = 0; id < 2000; ++id) {
    (void)store_.launch(store, backend_->stream_of(id));
    backend_->finish();
  }
  EXPECT_LT(backend_->events(), 200U);
}

TEST_F(Publication, KeepsVersionsWhoseLaunchesWereCaptured)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  backend_->is_capturing = true;
  (void)store_.launch(store);
  backend_->is_capturing = false;
  EXPECT_EQ(backend_->events(), 0U);
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
  store_.live.swap(store_inputs(3));
  EXPECT_TRUE(becomes(2));
}

TEST_F(Publication, KeepsVersionsThatNoEventCovers)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  backend_->fails_to_record = true;
  EXPECT_EQ(store_.launch(store), 1);
  backend_->fails_to_record = false;
  store_.live.swap(store_inputs(2));
  EXPECT_TRUE(stays(2));
}

TEST_F(Publication, UnloadsWhatWasRefusedAtOnce)
{
  store_.live.swap(store_inputs(1));
  auto const store = store_.kernel();
  EXPECT_THROW(store_.live.swap({fixtures::ptx_input(fixtures::store_text(2, "other"))}),
               file_error);
  EXPECT_EQ(backend_->loaded(), 1);
}

TEST_F(Publication, WaitsForTheDeviceAtItsEnd)
{
  std::thread finishing;
  {
    fixtures::live_store store{device(backend_)};
    store.live.swap(store_inputs(1));
    (void)store.launch(store.kernel());
    finishing = std::thread([&] {
      EXPECT_TRUE(stays(1));
      backend_->finish();
    });
  }
  EXPECT_EQ(backend_->loaded(), 0);
  finishing.join();
  EXPECT_EQ(backend_->events(), 0U);
}

namespace {

/// A job that begins, and ends when the test lets it.
struct held_job {
  std::promise<void> has_begun;
  std::promise<void> may_end;

  void operator()()
  {
    has_begun.set_value();
    may_end.get_future().wait();
  }
};

}  // namespace

TEST(NewestJob, ReplacesTheJobThatWaits)
{
  newest_job jobs;
  held_job first;
  std::vector<int> order;
  jobs.start_thread();
  jobs.start([&] { first(); });
  first.has_begun.get_future().wait();
  jobs.start([&] { order.push_back(2); });
  jobs.start([&] { order.push_back(3); });
  first.may_end.set_value();
  jobs.wait();
  EXPECT_EQ(order, std::vector<int>{3});
}

TEST(NewestJob, DropsTheJobThatWaitsAtItsEnd)
{
  held_job first;
  std::atomic<bool> is_done = false;
  std::future<void> ending;
  {
    newest_job jobs;
    jobs.start_thread();
    jobs.start([&] { first(); });
    first.has_begun.get_future().wait();
    jobs.start([&] { is_done = true; });
    ending = std::async(std::launch::async, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      first.may_end.set_value();
    });
  }
  EXPECT_FALSE(is_done);
}

TEST(NewestJob, WaitsForNothingWithoutAJob)
{
  newest_job const jobs;
  jobs.wait();
}

TEST(NewestJob, MayEndWithinItsJob)
{
  auto jobs = std::make_unique<newest_job>();
  auto* const started = jobs.get();
  std::promise<void> is_gone;
  started->start_thread();
  started->start([&] {
    jobs.reset();
    is_gone.set_value();
  });
  is_gone.get_future().wait();
  EXPECT_EQ(jobs, nullptr);
}

TEST(NewestJob, GetsNoSignalsOfTheHost)
{
  newest_job jobs;
  std::promise<bool> is_blocked;
  jobs.start_thread();
  jobs.start([&] {
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    is_blocked.set_value(sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1);
  });
  EXPECT_TRUE(is_blocked.get_future().get());
  sigset_t own;
  (void)pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}
