// SPDX-License-Identifier: Apache-2.0
// Distributes work on [0, count) over all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <system_error>
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

/// Threads that run `work`: as many of `count` as the system starts. Fewer are no error, because
/// the calling thread does the rest of the work.
template <typename Work>
std::vector<std::jthread> start_helpers(std::size_t count, Work const& work)
{
  std::vector<std::jthread> helpers;
  helpers.reserve(count);
  try {
    while (helpers.size() < count) helpers.emplace_back(std::cref(work));
  } catch (std::system_error const&) {
  } catch (std::bad_alloc const&) {
  }
  return helpers;
}

/// Calls work(begin, end, part) for consecutive parts of [0, count), thread_count(count) of them,
/// on as many threads if they can be started. Rethrows the first exception after all have ended.
template <typename Work>
void parallel_blocks(std::size_t count, Work const& work)
{
  auto const parts = thread_count(count);
  if (parts == 1) return work(std::size_t{0}, count, std::size_t{0});
  std::vector<std::exception_ptr> failures(parts);
  std::atomic<std::size_t> next = 0;
  auto const take_parts = [&] {
    for (auto part = next++; part < parts; part = next++) try {
        work(count / parts * part, part + 1 == parts ? count : count / parts * (part + 1), part);
      } catch (...) {
        failures[part] = std::current_exception();
      }
  };
  {
    auto const helpers = start_helpers(parts - 1, take_parts);
    take_parts();
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fatlink::detail
