// SPDX-License-Identifier: Apache-2.0
#include "device/driver_gate.hpp"

#include <algorithm>
#include <thread>

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_longest_pause{1};
constexpr int k_growth = 64;  // the pause is the wait of an exclusive call divided by this

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

/// A second exclusive call would sleep within the driver, while the end of the first one lets
/// shared calls in.
bool driver_gate::begin_exclusive() noexcept
{
  auto is_leading = false;
  yield_while([&] { return !(is_leading = !has_leading_.exchange(true)); }, clock::now(),
              k_blocking_limits * limit_);
  close(blocking_, k_blocking_limits * limit_);
  close(shared_, limit_);
  return is_leading;
}

void driver_gate::end_exclusive(bool is_leading) noexcept
{
  progress_ = clock::now().time_since_epoch().count();
  ended_.fetch_add(1);
  shared_.closers.fetch_sub(1);
  blocking_.closers.fetch_sub(1);
  if (is_leading) has_leading_ = false;
}

/// Waits for the calls that are inside.
void driver_gate::close(door& entrance, duration limit) noexcept
{
  auto const start = clock::now();
  progress_ = start.time_since_epoch().count();
  entrance.closers.fetch_add(1);
  yield_while([&] { return entrance.inside.load() != 0; }, start, limit);
}

/// Threads that make one exclusive call after the other do not keep the others waiting: each of
/// these waits until any one has ended.
void driver_gate::wait_outside(door& entrance, duration limit) noexcept
{
  entrance.inside.fetch_sub(1);
  auto const ended = ended_.load();
  auto const start = clock::now();
  yield_while([&] { return entrance.closers.load() != 0 && ended_.load() == ended; }, start,
              longest_wait(limit, start));
  entrance.inside.fetch_add(1);
}

driver_gate::clock::duration driver_gate::longest_wait(duration limit,
                                                       clock::time_point now) const noexcept
{
  auto const wait = now - clock::time_point(clock::duration(progress_.load()));
  if (wait < limit) return limit;
  return std::max<clock::duration>(pause_,
                                   std::min<clock::duration>(wait / k_growth, k_longest_pause));
}

}  // namespace fatlink::detail
