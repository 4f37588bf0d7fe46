// SPDX-License-Identifier: Apache-2.0
// The process that the host starts. It starts the linking process, holds none of its data, and
// waits. When the linking process ends, it reports the reason. When the host ends or closes its end
// of the socket, it ends the linking process, also during a link. The linking process ends with the
// guardian (PR_SET_PDEATHSIG; the guardian has only one thread).
#pragma once

#include <sys/types.h>

#include <optional>

#include "confinement_pipe.hpp"

namespace fatlink {

class guardian {
 public:
  /// Blocks SIGCHLD until it waits. `host`: the parent process when the helper was started.
  /// `status_pipe`: receives one line, such as "SIGSEGV" or "exit status 2", when the linking
  /// process has ended; -1: none.
  guardian(pid_t host, int status_pipe);

  /// Forks. Returns 0 in the linking process, with the signal mask that this process started with;
  /// -1 with errno if the kernel refuses.
  [[nodiscard]] pid_t start_linking_process();

  /// In the linking process, once: waits until the guardian has confined itself, and returns which
  /// layers the kernel refused; empty if the guardian does not report.
  [[nodiscard]] std::optional<guardian_errors> receive_confinement() noexcept;

  /// Confines this process, reports how, and waits. Returns the exit status of the linking process,
  /// or 128 and the number of the signal that ended it.
  [[nodiscard]] int wait();

 private:
  [[nodiscard]] bool has_host_left() const;
  void report(int status) const;

  pid_t host_;
  int status_pipe_;
  confinement_pipe confinement_;
  pid_t linking_process_ = -1;
  int host_descriptor_ = -1;  ///< a pidfd; -1 if the kernel has none
};

}  // namespace fatlink
