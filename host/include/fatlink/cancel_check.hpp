// SPDX-License-Identifier: Apache-2.0
// Cancels calls of fatlink that take long, for example when the user presses Ctrl-C. A call runs
// the check about ten times a second while it waits for the helper, which links and compiles, and
// while the reference device executes a kernel. The check is not run while a call waits for a GPU
// (its kernels cannot be stopped), and while it links in its own process. Threads: a check applies
// to the thread that created it.
#pragma once

#include <cstdint>
#include <functional>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// As long as this object exists, calls of this thread throw cancelled_error soon after its
/// function has returned true. Checks may be nested; only the newest one is run.
class cancel_check {
 public:
  /// Calls of fatlink run `is_cancelled` in this thread. An exception that it throws propagates out
  /// of the call.
  explicit cancel_check(std::function<bool()> is_cancelled);
  ~cancel_check();
  cancel_check(cancel_check const&) = delete;
  cancel_check& operator=(cancel_check const&) = delete;

 private:
  std::function<bool()> is_cancelled_;
  std::int32_t (*previous_)(void*);
  void* previous_context_;
};

}  // namespace fatlink
