// SPDX-License-Identifier: Apache-2.0
// Keeps a signal that a write raises (SIGPIPE: the reader has gone; SIGXFSZ: the file outgrew the
// process's limit) from ending the host: the write fails instead. The host's handlers and other
// threads' masks stay as they are.
#pragma once

#include <csignal>

namespace fatlink::detail {

/// While this lives, `signal` that this thread raises is discarded.
class signal_guard {
 public:
  explicit signal_guard(int signal) noexcept;
  ~signal_guard();  ///< errno stays
  signal_guard(signal_guard const&) = delete;
  signal_guard& operator=(signal_guard const&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace fatlink::detail
