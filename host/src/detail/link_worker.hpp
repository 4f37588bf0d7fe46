// SPDX-License-Identifier: Apache-2.0
// The host's end of fatlink-linkd, the helper process that owns nvJitLink: damaged inputs that
// crash or hang nvJitLink take the helper down, not the host. A helper survives from link to
// link (leased_worker.hpp). Threads: one at a time may use a helper.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "detail/worker_protocol.hpp"

namespace fatlink::detail {

class link_worker {
 public:
  /// Starts a helper and waits until it has opened nvJitLink: `library`, or where that is empty
  /// the one it finds.
  /// @throws unavailable_error no helper, or no nvJitLink where it looked.
  static std::unique_ptr<link_worker> start(std::chrono::milliseconds limit,
                                            std::string const& library = {});
  ~link_worker();  ///< ends the process
  link_worker(link_worker const&) = delete;
  link_worker& operator=(link_worker const&) = delete;

  [[nodiscard]] worker_hello const& hello() const noexcept { return hello_; }
  [[nodiscard]] int process() const noexcept { return process_; }
  /// @throws link_error as the helper says; or the helper died (code SIGSEGV, …) or was killed
  ///   after `limit` (code ETIMEDOUT): it is of no more use then.
  link_product link(link_request const& request, std::chrono::milliseconds limit);
  /// Whether it may serve another link; notices a helper that died meanwhile.
  [[nodiscard]] bool is_alive() noexcept;

 private:
  link_worker(int process, int socket) : process_(process), socket_(socket) {}
  struct message {
    message_header header;
    byte_buffer body;
  };
  using deadline = std::chrono::steady_clock::time_point;
  void send(bytes_view bytes, deadline until);
  void receive(std::span<std::byte> to, deadline until);
  message receive(deadline until);
  [[nodiscard]] std::string end();  ///< kills, reaps, and says how it ended

  int process_;
  int socket_;
  bool alive_ = true;
  std::uint64_t last_request_ = 0;
  worker_hello hello_;
};

}  // namespace fatlink::detail
