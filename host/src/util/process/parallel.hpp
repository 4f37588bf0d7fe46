// SPDX-License-Identifier: Apache-2.0
// Distributes work on [0, count) over all cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace fatlink::detail {

/// The number of threads that parallel_blocks uses for `count` items.
inline std::size_t thread_count(std::size_t count) noexcept
{
  constexpr std::size_t k_worth_a_thread = 16384;
  auto const cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  return std::clamp<std::size_t>(count / k_worth_a_thread, 1, cores);
}

/// Calls work(begin, end, thread) for consecutive blocks, one for each thread. Rethrows the first
/// exception of a thread after all threads have ended.
template <typename Work>
void parallel_blocks(std::size_t count, Work const& work)
{
  auto const thread_total = thread_count(count);
  if (thread_total == 1) return work(std::size_t{0}, count, std::size_t{0});
  std::vector<std::exception_ptr> failures(thread_total);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_total; ++i)
      threads.emplace_back([&, i] {
        try {
          work(count / thread_total * i,
               i + 1 == thread_total ? count : count / thread_total * (i + 1), i);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fatlink::detail
