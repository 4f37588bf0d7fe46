// SPDX-License-Identifier: Apache-2.0
#include "device/driver_gate.hpp"

#include <algorithm>
#include <thread>

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_longest_pause{1};
constexpr int k_growth = 64;  // the wait of an exclusive call is so many times the pause

using clock = std::chrono::steady_clock;

/// Yields instead of sleeping: a sleep would last longer than most driver calls.
template <typename Condition>
void yield_while(Condition condition, clock::time_point start, clock::duration limit) noexcept
{
  while (condition() && clock::now() - start < limit) std::this_thread::yield();
}

}  // namespace

driver_gate& driver_gate::of_process() noexcept
{
  static driver_gate gate;  // its destructor does nothing: threads may use it until the end
  return gate;
}

void driver_gate::begin_exclusive() noexcept
{
  note_progress();
  exclusive_.fetch_add(1);
  yield_while([this] { return shared_.load() != 0; }, clock::now(), turn_);
}

void driver_gate::end_exclusive() noexcept
{
  note_progress();
  ended_.fetch_add(1);
  exclusive_.fetch_sub(1);
}

/// Threads that make one exclusive call after the other do not keep shared ones waiting: each of
/// these waits until any one has ended.
void driver_gate::wait_for_exclusive() noexcept
{
  auto const ended = ended_.load();
  auto const start = clock::now();
  yield_while([&] { return exclusive_.load() != 0 && ended_.load() == ended; }, start,
              longest_pause(start));
}

driver_gate::clock::duration driver_gate::longest_pause(clock::time_point now) const noexcept
{
  auto const wait = now - clock::time_point(clock::duration(progress_.load()));
  if (wait < turn_) return turn_;
  return std::max<clock::duration>(pause_,
                                   std::min<clock::duration>(wait / k_growth, k_longest_pause));
}

}  // namespace fatlink::detail
