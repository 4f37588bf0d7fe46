// SPDX-License-Identifier: Apache-2.0
// Keeps an object usable in a child process that another thread forks: its mutex is held during the
// fork, so that the object is consistent and unlocked in the child, where a handler can discard
// what belongs to the parent. Handlers run at fork(), not at vfork(), posix_spawn or a direct
// clone.
#pragma once

#include <functional>
#include <mutex>

namespace fatlink::detail {

/// The order in which mutexes are locked for a fork. A thread may lock a mutex while it holds
/// earlier ones.
enum class fork_order {
  linker,
  memory_layer,
  cache,
  helper_pool,
  nvjitlink,
  reference_module,
  reference_heap,
  reference_memory
};

class fork_guard {
 public:
  /// `in_child`: called in the child with `mutex` held, before fork() returns there.
  fork_guard(
      fork_order order, std::mutex& mutex, std::function<void()> in_child = [] {});
  ~fork_guard();
  fork_guard(fork_guard const&) = delete;
  fork_guard& operator=(fork_guard const&) = delete;

 private:
  friend class fork_registry;
  fork_order order_;
  std::mutex& mutex_;
  std::function<void()> in_child_;
};

}  // namespace fatlink::detail
