// SPDX-License-Identifier: Apache-2.0
// The host's end of fatlink-linkd, the helper process that runs nvJitLink: inputs that crash or
// hang nvJitLink end the helper, not the host. One request at a time; from before a request is sent
// until its whole reply has been read the helper is busy, and one that is still busy afterwards (an
// exception, a cancelled thread) is never used again. Threads: one at a time may use a helper.
#pragma once

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>

#include "link_helper/helper_process.hpp"
#include "link_helper/protocol.hpp"

namespace fatlink::detail {

/// How long something may take, and when that ends.
class time_limit {
 public:
  using clock = std::chrono::steady_clock;
  /// Of more than a year: a year.
  explicit time_limit(std::chrono::milliseconds length)
      : length_(std::min<std::chrono::milliseconds>(length, std::chrono::hours(24 * 365))),
        end_(clock::now() + length_)
  {
  }
  [[nodiscard]] std::chrono::milliseconds length() const noexcept { return length_; }
  [[nodiscard]] clock::time_point end() const noexcept { return end_; }

 private:
  std::chrono::milliseconds length_;
  clock::time_point end_;
};

struct helper_settings {
  std::string nvjitlink = {};     ///< the file to open; empty: the helper searches for one
  bool may_search = true;         ///< opens another one where `nvjitlink` cannot be opened
  bool allow_unconfined = false;  ///< also link where the kernel refuses seccomp
};

/// A helper ended by itself with status 0 instead of replying: it had been idle for long, or had
/// used its processor time. Another one can take the request.
struct helper_left {};

class link_helper {
 public:
  /// Starts a helper and waits until it has opened nvJitLink.
  /// @throws unavailable_error no helper, no nvJitLink where it looked, no sandbox; or the time
  ///   limit has passed (code ETIMEDOUT).
  static std::unique_ptr<link_helper> start(helper_settings const& settings,
                                            time_limit const& limit);
  link_helper(link_helper const&) = delete;
  link_helper& operator=(link_helper const&) = delete;

  [[nodiscard]] helper_hello const& hello() const noexcept { return hello_; }
  /// The number of the process that links.
  [[nodiscard]] int process() const noexcept { return static_cast<int>(hello_.process); }
  /// @throws helper_left it ended by itself before it replied.
  /// @throws link_error as the helper reports; or the helper died (code SIGSEGV, …), was killed at
  ///   the time limit (ETIMEDOUT) or sent what is no reply (EPROTO): it cannot be used again then.
  link_product link(link_request const& request, time_limit const& limit);
  /// Whether it can serve another link: it runs, and no reply is outstanding.
  [[nodiscard]] bool is_ready() const noexcept { return !is_busy_ && process_.is_idle(); }
  /// See helper_process.
  void abandon() noexcept { process_.abandon(); }

 private:
  explicit link_helper(helper_settings const& settings, std::string const& program);
  struct message {
    message_header header;
    byte_buffer body;
  };
  void send(bytes_view bytes, time_limit const& limit);
  void receive(std::span<std::byte> buffer, time_limit const& limit);
  /// @throws protocol_error before the body is read, for a header of another kind or request.
  message receive(std::initializer_list<message_kind> kinds, request_identity const& request,
                  time_limit const& limit);
  message exchange(link_request const& request, time_limit const& limit);

  helper_process process_;
  helper_hello hello_;
  std::uint64_t last_request_ = 0;
  bool is_busy_ = false;
};

}  // namespace fatlink::detail
