// SPDX-License-Identifier: Apache-2.0
// The process that the host starts. It starts the tool process, holds none of its data, and waits.
// When the tool process ends, it reports the reason. When the host ends or closes its end of the
// socket, it ends the tool process, also during a link. The tool process ends with the guardian
// (PR_SET_PDEATHSIG; the guardian has only one thread).
#pragma once

#include <sys/types.h>

#include <optional>

#include "sandbox.hpp"

namespace fatlink {

/// A pipe on which the guardian reports once which layers of its confinement the kernel refused.
/// The hello of the tool process states them.
class confinement_pipe {
 public:
  /// Opens the pipe, before the fork. If that fails, receive() returns nothing.
  confinement_pipe() noexcept;

  /// In the guardian. Allocates no memory and closes nothing, which its filter may refuse.
  void send(guardian_errors const& errors) const noexcept;

  /// In the tool process, once: waits for the report and closes the pipe. Empty if there is
  /// none.
  [[nodiscard]] std::optional<guardian_errors> receive() noexcept;

 private:
  int reader_ = -1;
  int writer_ = -1;
};

class guardian {
 public:
  /// Blocks SIGCHLD until it waits. `host`: the parent process when the helper was started.
  /// `status_pipe`: receives two lines when the tool process has ended: "SIGSEGV" or
  /// "exit status 2", and the most memory that it used, KiB; -1: none.
  guardian(pid_t host, int status_pipe);

  /// Forks. Returns 0 in the tool process, with the signal mask that this process started with;
  /// -1 with errno if the kernel refuses.
  [[nodiscard]] pid_t start_tool_process();

  /// In the tool process, once: waits until the guardian has confined itself, and returns which
  /// layers the kernel refused; empty if the guardian does not report.
  [[nodiscard]] std::optional<guardian_errors> receive_confinement() noexcept;

  /// Confines this process, reports how, and waits. Returns the exit status of the tool process,
  /// or 128 and the number of the signal that ended it.
  [[nodiscard]] int wait();

 private:
  [[nodiscard]] bool has_host_left() const;
  void report(int status, long peak_kib) const;

  pid_t host_;
  int status_pipe_;
  confinement_pipe confinement_;
  pid_t tool_process_ = -1;
  int host_descriptor_ = -1;  ///< a pidfd; -1 if the kernel has none
};

}  // namespace fatlink
