// SPDX-License-Identifier: Apache-2.0
// Pauses of work while a load lasts too long.
#include "device/load_turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

using fatlink::detail::load_turns;

namespace {

constexpr load_turns::duration k_nothing{0};
constexpr load_turns::duration k_hour{3'600'000'000};

/// Gives way while a load of another thread lasts, and returns whether that had ended then.
bool ended_first(load_turns& turns)
{
  std::atomic<bool> has_ended = false;
  std::optional<load_turns::load> load(std::in_place, turns);
  std::jthread const loading([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_ended = true;
    load.reset();
  });
  turns.give_way();
  return has_ended;
}

}  // namespace

TEST(LoadTurns, WorkPausesUntilALoadEnds)
{
  load_turns turns(k_nothing, k_hour);
  EXPECT_TRUE(ended_first(turns));
}

TEST(LoadTurns, WorkGoesOnAfterThePauseThoughTheLoadLasts)
{
  load_turns turns(k_nothing, load_turns::duration(10));
  load_turns::load const load(turns);
  turns.give_way();
}

TEST(LoadTurns, WorkDoesNotPauseForALoadThatHasJustBegun)
{
  load_turns turns(k_hour, k_hour);
  load_turns::load const load(turns);
  turns.give_way();
}

TEST(LoadTurns, WorkDoesNotPauseForALoadThatWaitsForOthersWhichProgress)
{
  load_turns turns(k_hour, k_hour);
  load_turns::load const first(turns);
  {
    load_turns::load const second(turns);
  }
  turns.give_way();
}

TEST(LoadTurns, WorkDoesNotPauseAfterTheLastLoad)
{
  load_turns turns(k_nothing, k_hour);
  {
    load_turns::load const load(turns);
  }
  turns.give_way();
}

TEST(LoadTurns, OfTheProcessAreOne)
{
  EXPECT_EQ(&load_turns::of_process(), &load_turns::of_process());
}
