// SPDX-License-Identifier: Apache-2.0
// How long a helper waits for the next request before it ends itself. Threads: safe.
#pragma once

#include <chrono>
#include <string>

namespace fatlink::detail {

/// $FATLINK_HELPER_IDLE_SECONDS; 60 s if it is not set or not a number. The host uses a helper for
/// three quarters of this time, so that no request reaches a helper that is about to end.
std::chrono::milliseconds idle_time();

/// Why $FATLINK_HELPER_IDLE_SECONDS is not used; empty if it is valid or not set.
std::string idle_time_warning();

}  // namespace fatlink::detail
