// SPDX-License-Identifier: Apache-2.0
// Prevents a signal raised by a write (SIGPIPE: the reader is gone; SIGXFSZ: the file exceeds the
// process's limit) from ending the host process: the write fails instead. The host's handlers and
// other threads' masks are not changed.
#pragma once

#include <csignal>

namespace fatlink::detail {

/// While it lives, discards `signal` when this thread raises it.
class signal_guard {
 public:
  explicit signal_guard(int signal) noexcept;
  ~signal_guard();  ///< keeps errno
  signal_guard(signal_guard const&) = delete;
  signal_guard& operator=(signal_guard const&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace fatlink::detail
