// SPDX-License-Identifier: Apache-2.0
// Thread cancellation (pthread_cancel) around code that is not prepared for it.
#pragma once

#include <pthread.h>

namespace fatlink::detail {

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
