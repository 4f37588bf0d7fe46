// SPDX-License-Identifier: Apache-2.0
// fatlink-linkd as a process of the host: started, watched and ended. The process that is started
// is the guardian of the one that links: it ends it together with the host or with the
// conversation, and writes on the status pipe how it ended, so that a host whose SIGCHLD handler
// reaps every child learns it, too. The process is known by a pidfd and by the socket to it, never
// by its number alone, which may be another process's by then. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "util/files/read_file.hpp"

namespace fatlink::detail {

class helper_process {
 public:
  /// Starts `program` with a socket as standard input and output, the null device as standard
  /// error, a pipe for its end as descriptor 3, no other descriptor, every signal at its default,
  /// and of this process's environment what it needs (helper_environment).
  /// @throws unavailable_error it cannot be started.
  helper_process(std::string const& program, std::vector<std::string> const& arguments);
  /// Ends it, unless this is a child that the host forked: it is the host's, not the child's.
  ~helper_process();
  helper_process(helper_process const&) = delete;
  helper_process& operator=(helper_process const&) = delete;

  [[nodiscard]] int socket() const noexcept { return socket_->get(); }
  /// Whether it runs and has nothing to say that nobody asked for.
  [[nodiscard]] bool is_idle() const noexcept;
  /// Ends it and waits until it has ended, at most a second.
  /// Returns how: "SIGSEGV", "exit status 2", "unknown cause".
  std::string end();
  /// Makes the destructor leave the process alone: for the children that a host forks.
  void abandon() noexcept { is_abandoned_ = true; }

 private:
  [[nodiscard]] std::string read_status() const;
  [[nodiscard]] std::string reap();

  pid_t owner_;
  pid_t process_ = -1;
  std::unique_ptr<descriptor> socket_;
  std::unique_ptr<descriptor> status_;
  std::unique_ptr<descriptor> pidfd_;  ///< -1: the kernel has none (before 5.3)
  bool is_abandoned_ = false;
  bool has_ended_ = false;
};

/// The variables that the helper gets of this process's: FATLINK_*, those that name where to search
/// nvJitLink, the loader's search path, the locale, and the sanitizers' options.
std::vector<std::string> helper_environment();

}  // namespace fatlink::detail
