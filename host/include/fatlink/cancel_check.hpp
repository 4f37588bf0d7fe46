// SPDX-License-Identifier: Apache-2.0
// Ending calls that take long, as when somebody presses Ctrl-C. A call asks about ten times a
// second while it waits for the helper, which links and compiles, and while the reference device
// executes a kernel. Calls do not ask while they wait for a GPU, whose kernels cannot be ended, and
// while they link in their own process. Threads: a check is that of the thread that made it.
#pragma once

#include <cstdint>
#include <functional>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// While it lives, calls of this thread end with cancelled_error soon after its function returned
/// true. Checks nest: the newest one is asked.
class cancel_check {
 public:
  /// `is_cancelled` is called in this thread, within calls of fatlink. What it throws leaves the
  /// call that asked.
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
