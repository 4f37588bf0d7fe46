// SPDX-License-Identifier: Apache-2.0
// Keeps nvJitLink from running in this process in two situations: at the end of the process, when
// its static objects are destroyed, and in a child that was forked during another thread's link,
// which inherits that thread's locks but not the thread.
//
// When the main thread returns from `main` or calls exit, the C library first destroys the
// thread_local objects of that thread, and then runs the exit handlers, which include nvJitLink's
// destructors. Therefore a thread_local object of the main thread waits for running links, at most
// ten seconds, and refuses links from then on, also after pthread_exit in the main thread. If
// another thread calls exit, a handler that is registered once nvJitLink is open does the same.
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
