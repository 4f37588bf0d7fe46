// SPDX-License-Identifier: Apache-2.0
// Work on several devices at once, with a thread of the host for each.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "fatlink/devices.hpp"

namespace fatlink::detail {

/// @throws usage_error a device is null.
void check_devices(opened_devices const& devices);

/// Calls `call(source value, index)` on a thread for each of `sources` that has a value, and
/// returns their results when all have ended. What a call throws is the error of its device; a
/// source without a value keeps its own.
template <typename Value, typename Source, typename Call>
std::vector<device_result<Value>> on_each_device(std::vector<device_result<Source>> const& sources,
                                                 Call const& call)
{
  std::vector<device_result<Value>> results;
  for (auto const& source : sources)
    results.push_back({.device = source.device, .value = {}, .failure = source.failure});
  std::vector<std::jthread> threads;  // their ends are waited for before `results` is returned
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    threads.emplace_back([&sources, &call, i, result = &results[i]] {
      try {
        result->value.emplace(call(*sources[i].value, i));
      } catch (...) {
        result->failure = std::current_exception();
      }
    });
  }
  threads.clear();
  return results;
}

}  // namespace fatlink::detail
