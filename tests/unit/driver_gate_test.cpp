// SPDX-License-Identifier: Apache-2.0
// Which calls wait for which. Where a call must not wait, the wait would be an hour: the test does
// not end in its time.
#include "device/driver_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

using fatlink::detail::driver_gate;

namespace {

constexpr driver_gate::duration k_instant{10};
constexpr driver_gate::duration k_hour{3'600'000'000};

/// Ends a call in another thread, a little later.
template <typename Call>
class ending_call {
 public:
  explicit ending_call(driver_gate& gate)
      : call_(std::in_place, gate), ending_([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          has_ended_ = true;
          call_.reset();
        })
  {
  }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  std::optional<Call> call_;
  std::atomic<bool> has_ended_ = false;
  std::jthread ending_;
};

using ending_exclusive_call = ending_call<driver_gate::exclusive_call>;
using ending_shared_call = ending_call<driver_gate::shared_call>;
using ending_blocking_call = ending_call<driver_gate::blocking_call>;

}  // namespace

TEST(DriverGate, SharedCallWaitsUntilAnExclusiveOneEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call exclusive(gate);
  driver_gate::shared_call const shared(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, SharedCallWaitsForOneExclusiveCallOnly)
{
  driver_gate gate(k_instant, k_hour);
  driver_gate::exclusive_call const lasting(gate);
  std::atomic<bool> is_done = false;
  std::jthread const others([&] {
    while (!is_done) driver_gate::exclusive_call const next(gate);
  });
  for (int i = 0; i < 100; ++i) driver_gate::shared_call const shared(gate);
  is_done = true;
  SUCCEED() << "no call waited for the lasting one";
}

TEST(DriverGate, ExclusiveCallWaitsUntilAnotherEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call first(gate);
  driver_gate::exclusive_call const second(gate);
  EXPECT_TRUE(first.has_ended());
}

TEST(DriverGate, ExclusiveCallGoesOnThoughAnotherLasts)
{
  driver_gate gate(k_instant);
  driver_gate::exclusive_call const first(gate);
  driver_gate::exclusive_call const second(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, SharedCallGoesOnThoughAnExclusiveOneLasts)
{
  driver_gate gate(k_instant, k_instant);
  driver_gate::exclusive_call const exclusive(gate);
  driver_gate::shared_call const shared(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, SharedCallPausesForAnExclusiveOneThatWaitsForLong)
{
  driver_gate gate(k_instant, k_hour);
  ending_exclusive_call exclusive(gate);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  driver_gate::shared_call const shared(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, ExclusiveCallWaitsUntilSharedOnesEnd)
{
  driver_gate gate(k_hour);
  ending_shared_call first(gate);
  ending_shared_call second(gate);
  driver_gate::exclusive_call const exclusive(gate);
  EXPECT_TRUE(first.has_ended() && second.has_ended());
}

TEST(DriverGate, ExclusiveCallGoesOnThoughASharedOneLasts)
{
  driver_gate gate(k_instant);
  driver_gate::shared_call const shared(gate);
  driver_gate::exclusive_call const exclusive(gate);
  SUCCEED() << "the wait has ended";
}

TEST(DriverGate, BlockingCallWaitsUntilAnExclusiveOneEnds)
{
  driver_gate gate(k_hour);
  ending_exclusive_call exclusive(gate);
  driver_gate::blocking_call const blocking(gate);
  EXPECT_TRUE(exclusive.has_ended());
}

TEST(DriverGate, ExclusiveCallWaitsUntilBlockingOnesEnd)
{
  driver_gate gate(k_hour);
  ending_blocking_call blocking(gate);
  driver_gate::exclusive_call const exclusive(gate);
  EXPECT_TRUE(blocking.has_ended());
}

TEST(DriverGate, SharedCallGoesOnWhileAnExclusiveOneWaitsForABlockingOne)
{
  driver_gate gate(k_hour, k_hour);
  std::optional<driver_gate::blocking_call> blocking(std::in_place, gate);
  std::atomic<bool> has_begun = false;
  std::jthread const loading([&] {
    has_begun = true;
    driver_gate::exclusive_call const exclusive(gate);
  });
  while (!has_begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  {
    driver_gate::shared_call const shared(gate);
  }
  blocking.reset();
  SUCCEED() << "the shared call did not wait";
}

TEST(DriverGate, SharedCallsDoNotWaitForEachOther)
{
  driver_gate gate(k_hour, k_hour);
  driver_gate::shared_call const first(gate);
  driver_gate::shared_call const second(gate);
  driver_gate::blocking_call const third(gate);
  SUCCEED() << "there was no wait";
}

TEST(DriverGate, CallsDoNotWaitForThoseThatHaveEnded)
{
  driver_gate gate(k_hour, k_hour);
  {
    driver_gate::exclusive_call const exclusive(gate);
  }
  {
    driver_gate::shared_call const shared(gate);
  }
  driver_gate::exclusive_call const exclusive(gate);
  SUCCEED() << "there was no wait";
}

TEST(DriverGate, IsOneForTheProcess)
{
  EXPECT_EQ(&driver_gate::of_process(), &driver_gate::of_process());
}
