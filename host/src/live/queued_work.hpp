// SPDX-License-Identifier: Apache-2.0
// What the launches of one version have queued on the device: for each stream an event that is
// recorded behind the last launch. A stream is known by its id and touched only during a launch, so
// that its owner may destroy it afterwards. Threads: safe; see is_finished.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "live/event_pool.hpp"

namespace fatlink::detail {

class queued_work {
 private:
  using event_table = std::multimap<std::uint64_t, device_backend::handle>;

 public:
  /// The event of a stream while a launch uses it.
  using stream_event = event_table::node_type;

  explicit queued_work(std::shared_ptr<event_pool> pool) : pool_(std::move(pool)) {}
  /// The work has finished, unless it is pinned.
  ~queued_work();
  queued_work(queued_work const&) = delete;
  queued_work& operator=(queued_work const&) = delete;

  /// The event of `stream`, a stream_facts::id. It is recorded behind the launch and given back.
  /// @throws device_error the driver creates no event.
  [[nodiscard]] stream_event take(std::uint64_t stream);
  void put(stream_event event) noexcept;

  /// Declares that the work may go on for ever: it is part of a CUDA graph, or no event covers it.
  void pin() noexcept { is_pinned_ = true; }
  [[nodiscard]] bool is_pinned() const noexcept { return is_pinned_; }

  /// Whether all work has finished; only while no launch is in progress, and no new one can begin.
  [[nodiscard]] bool is_finished() const noexcept;

 private:
  void remove_finished() noexcept;

  std::shared_ptr<event_pool> pool_;
  std::mutex mutex_;
  event_table events_;
  std::size_t limit_ = 64;  ///< of events_, before finished ones are looked for
  std::atomic<bool> is_pinned_ = false;
};

}  // namespace fatlink::detail
