// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

namespace fatlink::detail {

/// Measures wall time in milliseconds.
class stopwatch {
 public:
  /// Milliseconds since construction, or since the last lap.
  double lap()
  {
    auto const end = clock::now();
    return std::chrono::duration<double, std::milli>(end - std::exchange(start_, end)).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace fatlink::detail
