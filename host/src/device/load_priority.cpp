// SPDX-License-Identifier: Apache-2.0
#include "device/load_priority.hpp"

#include <algorithm>
#include <thread>

namespace fatlink::detail {
namespace {

constexpr std::chrono::milliseconds k_longest_pause{1};
constexpr int k_growth = 64;  // the wait of a load is so many times the pause

}  // namespace

load_priority& load_priority::of_process() noexcept
{
  static load_priority priority;  // its destructor does nothing: threads may use it until the end
  return priority;
}

/// Yields instead of sleeping: a sleep would last longer than the pause.
void load_priority::pause_if_starved() const noexcept
{
  auto const start = clock::now();
  clock::time_point const progress{clock::duration(progress_.load(std::memory_order_relaxed))};
  auto const wait = start - progress;
  if (wait < delay_) return;
  auto const pause = std::max<clock::duration>(
      pause_, std::min<clock::duration>(wait / k_growth, k_longest_pause));
  while (loads_.load(std::memory_order_relaxed) != 0 && clock::now() - start < pause)
    std::this_thread::yield();
}

}  // namespace fatlink::detail
