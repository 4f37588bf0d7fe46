// SPDX-License-Identifier: Apache-2.0
// Starts, observes and ends a process of fatlink-linkd. The process that is started is the guardian
// of the tool process: it ends the tool process when the host ends or closes the socket, and
// writes to the status pipe how it ended, so that also a host whose SIGCHLD handler reaps every
// child learns the reason. The process is identified by a pidfd and its socket, never only by its
// process ID, which another process may have by then. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "link_helper/helper_tool.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::detail {

class helper_process {
 public:
  /// Starts `program`, the helper with `tool`, with a socket as standard input and output, the null
  /// device as standard error, the status pipe as descriptor 3, no other descriptors, default
  /// signal actions, and helper_environment().
  /// @throws unavailable_error it cannot be started.
  helper_process(std::string const& program, helper_tool tool,
                 std::vector<std::string> const& arguments);
  /// Ends the process, except in a forked child: the process belongs to the parent.
  ~helper_process();
  helper_process(helper_process const&) = delete;
  helper_process& operator=(helper_process const&) = delete;

  [[nodiscard]] int socket() const noexcept { return socket_->get(); }
  /// Whether it runs and has sent nothing that was not read.
  [[nodiscard]] bool is_idle() const noexcept;
  /// Ends the process and waits for its end, at most a second. Returns how the tool process
  /// ended: "SIGSEGV", "exit status 2", "unknown cause"; empty if end() was called before.
  std::string end();
  /// The most memory that the tool process used, KiB, known after end(); 0: unknown.
  [[nodiscard]] std::uint64_t peak_kib() const noexcept { return peak_kib_; }
  /// Makes the destructor do nothing to the process: for a forked child.
  void abandon() noexcept { is_abandoned_ = true; }

 private:
  [[nodiscard]] std::string read_status();
  [[nodiscard]] std::string reap();

  pid_t owner_;
  pid_t process_ = -1;
  std::unique_ptr<descriptor> socket_;
  std::unique_ptr<descriptor> status_;
  std::unique_ptr<descriptor> pidfd_;  ///< -1: the kernel has none (before 5.3)
  bool is_abandoned_ = false;
  bool has_ended_ = false;
  std::uint64_t peak_kib_ = 0;
};

/// The environment variables that the helper receives: FATLINK_*, those that say where to search
/// for nvJitLink, the loader's search path, the locale, and the options of sanitizers.
std::vector<std::string> helper_environment();

}  // namespace fatlink::detail
