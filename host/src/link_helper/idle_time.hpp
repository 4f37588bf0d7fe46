// SPDX-License-Identifier: Apache-2.0
// How long a helper waits for another request before it ends itself.
#pragma once

#include <chrono>

namespace fatlink::detail {

/// $FATLINK_HELPER_IDLE_SECONDS, else 60 s. The host uses a helper up to three quarters of it, so
/// that no request meets a helper that is just ending.
std::chrono::milliseconds helper_idle_time();

}  // namespace fatlink::detail
