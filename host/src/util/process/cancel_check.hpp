// SPDX-License-Identifier: Apache-2.0
// What code that takes long does to be cancelled: see fatlink/cancel_check.hpp. Unlike the
// cancellation of a thread (cancellation.hpp), the thread goes on, with an exception.
#pragma once

#include <chrono>
#include <cstdint>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// How long code that waits may go on without asking.
constexpr std::chrono::milliseconds k_ask_interval{100};

/// What this thread's calls ask: non-zero cancels. `function` null: nothing.
struct cancel_function {
  std::int32_t (*function)(void*) = nullptr;
  void* context = nullptr;
};

/// Sets what this thread's calls ask; what they asked before.
cancel_function set_cancel_function(cancel_function next) noexcept;

/// Whether this thread's calls ask.
bool may_be_cancelled() noexcept;

/// Asks, unless this thread did within the interval. @throws cancelled_error of the stage `origin`.
void throw_if_cancelled(stage origin);

}  // namespace fatlink::detail
