// SPDX-License-Identifier: Apache-2.0
// Work on several devices at once, with a thread of the host for each.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

#include "fatlink/devices.hpp"

namespace fatlink::detail {

/// @throws usage_error a device is null.
void check_devices(opened_devices const& devices);

/// Calls `call(number)` for each of `numbers` on a thread of its own, and waits for all. `call`
/// must not throw. The calls may wait for each other: none begins unless there is a thread for
/// each.
/// @throws unavailable_error (out-of-memory) there are not enough threads; nothing was called.
void run_on_threads(std::vector<std::size_t> const& numbers,
                    std::function<void(std::size_t)> const& call);

/// Calls `call(source value, index)` on a thread for each of `sources` that has a value, and
/// returns their results when all have ended. What a call throws is the error of its device; a
/// source without a value keeps its own. @throws as run_on_threads.
template <typename Value, typename Source, typename Call>
std::vector<device_result<Value>> on_each_device(std::vector<device_result<Source>> const& sources,
                                                 Call const& call)
{
  std::vector<device_result<Value>> results;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    results.push_back({.device = sources[i].device, .value = {}, .failure = sources[i].failure});
    if (sources[i]) numbers.push_back(i);
  }
  run_on_threads(numbers, [&](std::size_t i) {
    try {
      results[i].value.emplace(call(*sources[i].value, i));
    } catch (...) {
      results[i].failure = std::current_exception();
    }
  });
  return results;
}

}  // namespace fatlink::detail
