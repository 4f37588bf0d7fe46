// SPDX-License-Identifier: Apache-2.0
// The host's end of fatlink-linkd, the helper that runs nvJitLink or a compiler, its tool: an input
// that crashes or hangs the tool ends the helper, not the host. A helper serves one request at a
// time. It is busy from before a request is sent until the complete reply has been read; a helper
// that stays busy, because of an exception or a cancelled thread, is never used again. Threads: one
// at a time.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "link_helper/find_link_helper.hpp"
#include "link_helper/protocol.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::detail {

/// Starts, observes and ends a process of fatlink-linkd. The process that is started is the
/// guardian of the tool process: it ends the tool process when the host ends or closes the socket,
/// and writes to the status pipe how it ended, so that also a host whose SIGCHLD handler reaps
/// every child learns the reason. The process is identified by a pidfd and its socket, never only
/// by its process ID, which another process may have by then. Threads: one at a time.
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

/// A duration, and the time at which it ends, counted from construction.
class time_limit {
 public:
  using clock = std::chrono::steady_clock;
  /// `length`: at most a year; a longer one counts as a year.
  explicit time_limit(std::chrono::milliseconds length)
      : length_(std::min<std::chrono::milliseconds>(length, std::chrono::hours(24 * 365))),
        end_(clock::now() + length_)
  {
  }
  [[nodiscard]] std::chrono::milliseconds length() const noexcept { return length_; }
  [[nodiscard]] clock::time_point end() const noexcept { return end_; }
  /// Moves the end, for time that shall not count.
  void extend(clock::duration time) noexcept { end_ += time; }

 private:
  std::chrono::milliseconds length_;
  clock::time_point end_;
};

struct helper_settings {
  helper_tool tool = helper_tool::nvjitlink;
  std::string file = {};          ///< of the tool, to open; empty: the helper searches for one
  bool may_search = true;         ///< opens another one where `file` cannot be opened
  bool allow_unconfined = false;  ///< also works where the kernel refuses seccomp
  /// The most address space of the helper, MiB, besides that of the tool's files; 0: 8 GiB.
  unsigned memory_mib = 0;
  /// For nvrtc: also unpacks the headers that it brings to this folder, unless they are there.
  std::string headers_folder = {};
};

/// The helper died, was stopped at the time limit, or sent no valid reply: it cannot be used again.
struct helper_death {
  std::string reason = {};     ///< "SIGSEGV", "ETIMEDOUT", "EPROTO", …
  std::string cause = {};      ///< what was invalid, for EPROTO
  std::uint64_t peak_kib = 0;  ///< memory that it used; 0: unknown
};

/// Thrown if a helper ended itself with status 0 instead of replying, because it was idle for too
/// long or used its processor time. Another helper can take the request.
struct helper_left {};

/// Answers a compiler that looks up a file. The text must stay until the next call.
using file_source = std::function<looked_up_file(std::string const& path)>;

class link_helper {
 public:
  /// Starts a helper and waits until it has opened its tool.
  /// @throws unavailable_error there is no helper, no such tool or no sandbox; or (code ETIMEDOUT)
  ///   the time limit has passed.
  static std::unique_ptr<link_helper> start(helper_settings const& settings,
                                            time_limit const& limit);
  /// Starts a helper and does not wait: call wait_until_started() before anything else.
  /// @throws unavailable_error there is no helper.
  static std::unique_ptr<link_helper> launch(helper_settings const& settings);
  /// Waits until it has opened its tool, unless that was done. @throws as start().
  void wait_until_started(time_limit const& limit);
  link_helper(link_helper const&) = delete;
  link_helper& operator=(link_helper const&) = delete;

  [[nodiscard]] helper_hello const& hello() const noexcept { return hello_; }
  /// The process ID of the tool process.
  [[nodiscard]] int process() const noexcept { return static_cast<int>(hello_.process); }
  /// Links in the helper.
  /// @throws helper_left the helper ended itself before it replied.
  /// @throws link_error as the helper reports; or the helper died (code SIGSEGV, …), was stopped at
  ///   the time limit (ETIMEDOUT) or sent an invalid reply (EPROTO): it cannot be used again then.
  /// @throws unavailable_error as the helper reports.
  link_product link(link_request const& request, time_limit const& limit);
  /// Compiles in the helper. `files`: what the compiler may read; empty: nothing.
  /// @throws helper_left the helper ended itself before it replied.
  /// @throws helper_death it cannot be used again.
  /// @throws unavailable_error as the helper reports. @throws as `files`.
  compile_reply compile(program const& request, time_limit const& limit, file_source const& files);
  /// Whether it can serve another link: it runs, and it owes no reply.
  [[nodiscard]] bool is_ready() const noexcept { return !is_busy_ && process_.is_idle(); }
  /// See helper_process.
  void abandon() noexcept { process_.abandon(); }

 private:
  explicit link_helper(helper_settings const& settings, std::string program);
  struct message {
    message_header header;
    byte_buffer body;
  };
  void send(bytes_view bytes, time_limit const& limit);
  void receive(std::span<std::byte> buffer, time_limit const& limit);
  /// Receives a message of one of `kinds` that replies to `request`.
  /// @throws protocol_error a message of another kind or request; its body is not read.
  message receive(std::initializer_list<message_kind> kinds, request_identity const& request,
                  time_limit const& limit);
  message exchange(byte_buffer const& request, message_kind expected, time_limit const& limit,
                   file_source const& files);
  /// As exchange(). @throws helper_left, helper_death
  message call(byte_buffer const& request, message_kind expected, time_limit const& limit,
               file_source const& files = {});

  helper_tool tool_;
  std::string program_;
  helper_process process_;
  helper_hello hello_;
  bool is_started_ = false;
  std::uint64_t last_request_ = 0;
  bool is_busy_ = false;
};

}  // namespace fatlink::detail
