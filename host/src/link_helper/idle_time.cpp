// SPDX-License-Identifier: Apache-2.0
#include "link_helper/idle_time.hpp"

#include <algorithm>

#include "util/process/environment.hpp"
#include "util/text/number.hpp"

namespace fatlink::detail {

std::chrono::milliseconds helper_idle_time()
{
  constexpr double k_default_seconds = 60;
  constexpr double k_longest_seconds = 1e6;
  auto const seconds =
      read_decimal(environment("FATLINK_HELPER_IDLE_SECONDS")).value_or(k_default_seconds);
  return std::chrono::milliseconds(static_cast<long>(std::min(seconds, k_longest_seconds) * 1000));
}

}  // namespace fatlink::detail
