// SPDX-License-Identifier: Apache-2.0
// Guards nvJitLink in this process against two moments at which it cannot run: the end of the
// process, when its static objects are destroyed, and a child that was forked in the middle of
// another thread's link, which has that thread's locks and not the thread.
//
// When the main thread returns from `main` or calls exit, the C library first destroys that
// thread's thread_local objects, and only then calls what libraries have registered, nvJitLink's
// destructors among it. So a thread_local object of the main thread waits for the links that run,
// at most ten seconds, and from then on links are refused. (After pthread_exit in the main thread,
// too.) Another thread that calls exit is noticed by a handler registered once nvJitLink is open.
#pragma once

namespace fatlink::detail {

/// Exists while one link runs in this process. Threads: each link has its own.
class process_end_guard {
 public:
  /// @throws unavailable_error the process is ending, or was forked during a link.
  process_end_guard();
  ~process_end_guard();
  process_end_guard(process_end_guard const&) = delete;
  process_end_guard& operator=(process_end_guard const&) = delete;

  /// Also notices a thread other than the main one that calls exit. Call it once nvJitLink is open.
  static void watch_exit();
};

}  // namespace fatlink::detail
