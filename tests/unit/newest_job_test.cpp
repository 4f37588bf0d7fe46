// SPDX-License-Identifier: Apache-2.0
#include "live/background_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using fatlink::detail::newest_job;

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
