// SPDX-License-Identifier: Apache-2.0
#include "util/process/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace fatlink::detail {

class fork_registry {
 public:
  /// Never destroyed: processes fork while static objects are destroyed, too.
  static fork_registry& instance()
  {
    static auto& registry = *new fork_registry;
    return registry;
  }

  void add(fork_guard* guard)
  {
    std::lock_guard const lock(mutex_);
    auto const place = std::upper_bound(
        guards_.begin(), guards_.end(), guard,
        [](fork_guard const* a, fork_guard const* b) { return a->order_ < b->order_; });
    guards_.insert(place, guard);
  }

  void remove(fork_guard* guard)
  {
    std::lock_guard const lock(mutex_);
    std::erase(guards_, guard);
  }

 private:
  fork_registry()
  {
    ::pthread_atfork([] { instance().prepare(); }, [] { instance().resume(); },
                     [] { instance().resume_in_child(); });
  }

  void prepare()
  {
    mutex_.lock();
    for (auto* guard : guards_) guard->mutex_.lock();
  }

  void resume()
  {
    for (auto* guard : guards_) guard->mutex_.unlock();
    mutex_.unlock();
  }

  void resume_in_child()
  {
    for (auto* guard : guards_) guard->in_child_();
    resume();
  }

  std::mutex mutex_;
  std::vector<fork_guard*> guards_;  ///< by order
};

namespace {

// Constructed before threads exist: a construction during a fork would never finish in the child.
[[maybe_unused]] auto const& registry_at_start = fork_registry::instance();

}  // namespace

fork_guard::fork_guard(fork_order order, std::mutex& mutex, std::function<void()> in_child)
    : order_(order), mutex_(mutex), in_child_(std::move(in_child))
{
  fork_registry::instance().add(this);
}

fork_guard::~fork_guard()
{
  fork_registry::instance().remove(this);
}

}  // namespace fatlink::detail
