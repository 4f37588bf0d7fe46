// SPDX-License-Identifier: Apache-2.0
// Captures what is written to the process's standard error (file descriptor 2) while it lives:
// nvJitLink reports wrong prototypes and duplicates there and nowhere else. One at a time in a
// process: the constructor waits for its turn.
#pragma once

#include <mutex>
#include <string>

namespace fatlink::detail {

class stderr_capture {
 public:
  /// @throws unavailable_error no file descriptor left to do it: never links uncaptured.
  stderr_capture();
  ~stderr_capture();  ///< restores standard error
  stderr_capture(stderr_capture const&) = delete;
  stderr_capture& operator=(stderr_capture const&) = delete;

  /// Restores standard error and returns all that was written meanwhile.
  std::string finish();

 private:
  void restore() noexcept;

  std::unique_lock<std::mutex> turn_;
  int saved_ = -1;
  int file_ = -1;
};

}  // namespace fatlink::detail
