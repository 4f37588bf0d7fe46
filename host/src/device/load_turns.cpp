// SPDX-License-Identifier: Apache-2.0
#include "device/load_turns.hpp"

#include <thread>

namespace fatlink::detail {

load_turns& load_turns::of_process() noexcept
{
  static load_turns turns;  // its destructor does nothing: threads may use it until the end
  return turns;
}

/// A sleep would take longer than the pause.
void load_turns::pause_for_load() const noexcept
{
  auto const start = clock::now();
  clock::time_point const progress{clock::duration(progress_.load(std::memory_order_relaxed))};
  if (start - progress < patience_) return;
  while (loads_.load(std::memory_order_relaxed) != 0 && clock::now() - start < pause_)
    std::this_thread::yield();
}

}  // namespace fatlink::detail
