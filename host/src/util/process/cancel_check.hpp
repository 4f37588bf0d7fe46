// SPDX-License-Identifier: Apache-2.0
// Cancellation. What code that takes long does to be cancelled: see fatlink/cancel_check.hpp; the
// thread goes on, with an exception. And the cancellation of a thread (pthread_cancel) around code
// that is not prepared for it.
#pragma once

#include <pthread.h>

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

/// Disables cancellation of this thread while it lives. Guards nest.
class cancellation_guard {
 public:
  cancellation_guard() noexcept
  {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous_);
    if (depth_++ == 0) callers_state_ = previous_;
  }
  ~cancellation_guard()
  {
    --depth_;
    ::pthread_setcancelstate(previous_, nullptr);
  }
  cancellation_guard(cancellation_guard const&) = delete;
  cancellation_guard& operator=(cancellation_guard const&) = delete;

 private:
  friend class cancellation_point;
  int previous_ = PTHREAD_CANCEL_ENABLE;
  static inline thread_local int depth_ = 0;
  static inline thread_local int callers_state_ = PTHREAD_CANCEL_ENABLE;
};

/// While it lives, restores the state that this thread had before the outermost guard. A cancelled
/// thread may leave the scope by forced unwinding.
class cancellation_point {
 public:
  explicit cancellation_point(cancellation_guard const& /*guard*/) noexcept
  {
    ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
    ::pthread_setcancelstate(cancellation_guard::callers_state_, nullptr);
  }
  ~cancellation_point()
  {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    ::pthread_setcanceltype(type_, nullptr);
  }
  cancellation_point(cancellation_point const&) = delete;
  cancellation_point& operator=(cancellation_point const&) = delete;

 private:
  int type_ = PTHREAD_CANCEL_DEFERRED;
};

}  // namespace fatlink::detail
