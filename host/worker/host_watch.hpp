// SPDX-License-Identifier: Apache-2.0
// Ends the helper when its host has ended, in the middle of a link, too. A thread of its own
// watches standard input, a socket whose other end only the host holds, and the parent process.
// PR_SET_PDEATHSIG is not used: it tells of the end of the *thread* that started the helper, and a
// helper serves other threads after that one.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace fatlink {

class host_watch {
 public:
  /// `host`: the parent process when the helper was started. Where no thread can be started,
  /// nothing is watched, and the helper ends after its link.
  explicit host_watch(pid_t host);
  host_watch(host_watch const&) = delete;
  host_watch& operator=(host_watch const&) = delete;

  /// Between these the process ends, with status 0, as soon as the host has; otherwise the helper
  /// itself reads the end of its input.
  void begin_link() noexcept { is_linking_ = true; }
  void end_link() noexcept { is_linking_ = false; }

 private:
  [[noreturn]] static void* watch(void* self);

  pid_t host_;
  std::atomic<bool> is_linking_ = false;
};

}  // namespace fatlink
