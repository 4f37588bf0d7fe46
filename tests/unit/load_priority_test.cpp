// SPDX-License-Identifier: Apache-2.0
// Pauses of work while a load makes no progress. Where work must not pause, a pause would be an
// hour: the test does not end in its time.
#include "device/load_priority.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

using fatlink::detail::load_priority;

namespace {

constexpr load_priority::duration k_none{0};
constexpr load_priority::duration k_second{1'000'000};
constexpr load_priority::duration k_hour{3'600'000'000};

}  // namespace

TEST(LoadPriority, WorkPausesUntilALoadEnds)
{
  load_priority priority(k_none, k_hour);
  std::atomic<bool> has_ended = false;
  std::optional<load_priority::load> load(std::in_place, priority);
  std::jthread const loading([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_ended = true;
    load.reset();
  });
  priority.yield_to_loads();
  EXPECT_TRUE(has_ended);
}

TEST(LoadPriority, WorkGoesOnAfterThePauseThoughTheLoadLasts)
{
  load_priority priority(k_none, load_priority::duration(10));
  load_priority::load const load(priority);
  priority.yield_to_loads();
  SUCCEED() << "the pause has ended";
}

TEST(LoadPriority, WorkDoesNotPauseForALoadThatHasJustBegun)
{
  load_priority priority(24 * 365 * k_hour, k_hour);  // longer than the machine runs
  load_priority::load const load(priority);
  priority.yield_to_loads();
  SUCCEED() << "there was no pause";
}

TEST(LoadPriority, WorkDoesNotPauseWhileOtherLoadsBeginAndEnd)
{
  load_priority priority(k_second, k_hour);
  load_priority::load const first(priority);
  std::this_thread::sleep_for(k_second);
  {
    load_priority::load const second(priority);
  }
  priority.yield_to_loads();
  SUCCEED() << "there was no pause";
}

TEST(LoadPriority, WorkDoesNotPauseAfterTheLastLoad)
{
  load_priority priority(k_none, k_hour);
  {
    load_priority::load const load(priority);
  }
  priority.yield_to_loads();
  SUCCEED() << "there was no pause";
}

TEST(LoadPriority, IsOneForTheProcess)
{
  EXPECT_EQ(&load_priority::of_process(), &load_priority::of_process());
}
