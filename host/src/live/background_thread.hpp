// SPDX-License-Identifier: Apache-2.0
// A thread that works for an object without the host's knowledge. The host's signals are not
// delivered to it. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <functional>
#include <thread>

namespace fatlink::detail {

class background_thread {
 public:
  /// Calls `work`, which throws nothing. @throws std::system_error the system starts no thread.
  explicit background_thread(std::function<void()> work);
  ~background_thread() { join(); }
  background_thread(background_thread const&) = delete;
  background_thread& operator=(background_thread const&) = delete;

  /// Whether there is a thread: a process that was forked from the one that started it has none.
  [[nodiscard]] bool exists() const noexcept;
  /// Whether `work` itself calls this.
  [[nodiscard]] bool is_current() const noexcept;
  /// Waits for the end of `work`; where `work` itself calls this, or there is no thread, does not.
  void join() noexcept;

 private:
  pid_t process_;
  std::thread thread_;
};

}  // namespace fatlink::detail
