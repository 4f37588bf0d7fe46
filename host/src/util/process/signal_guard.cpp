// SPDX-License-Identifier: Apache-2.0
#include "util/process/signal_guard.hpp"

#include <cerrno>
#include <ctime>

namespace fatlink::detail {

signal_guard::signal_guard(int signal) noexcept
{
  sigemptyset(&signal_);
  sigaddset(&signal_, signal);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, signal) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

signal_guard::~signal_guard()
{
  auto const code = errno;
  timespec const at_once{};
  if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = code;
}

}  // namespace fatlink::detail
