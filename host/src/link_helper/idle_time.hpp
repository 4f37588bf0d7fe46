// SPDX-License-Identifier: Apache-2.0
// How long a helper waits for another request before it ends itself.
#pragma once

#include <algorithm>
#include <chrono>

#include "detail/environment.hpp"
#include "detail/number.hpp"

namespace fatlink::detail {

/// $FATLINK_HELPER_IDLE_SECONDS, else 60 s. The host uses a helper up to three quarters of it, so
/// that no request meets a helper that is just ending.
inline std::chrono::milliseconds helper_idle_time()
{
  constexpr double k_default_seconds = 60;
  constexpr double k_longest_seconds = 1e6;
  auto const seconds =
      read_decimal(environment("FATLINK_HELPER_IDLE_SECONDS")).value_or(k_default_seconds);
  return std::chrono::milliseconds(static_cast<long>(std::min(seconds, k_longest_seconds) * 1000));
}

}  // namespace fatlink::detail
