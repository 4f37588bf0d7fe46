// SPDX-License-Identifier: Apache-2.0
// One version of a live module or live plan. Threads: see the members.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "live/queued_work.hpp"

namespace fatlink::detail {

/// What a version runs: a loaded module with its kernels, or a prepared plan.
class version_content {
 public:
  version_content() = default;
  virtual ~version_content() = default;
  version_content(version_content const&) = delete;
  version_content& operator=(version_content const&) = delete;
};

struct code_version {
  code_version(std::unique_ptr<version_content> loaded, std::shared_ptr<event_pool> pool)
      : content(std::move(loaded)), work(std::move(pool))
  {
  }

  /// Whether it can be unloaded: no call uses it, and the device has finished what calls queued.
  /// Only after another version has replaced it.
  [[nodiscard]] bool is_finished() const noexcept
  {
    return calls.load(std::memory_order_acquire) == 0 && !work.is_pinned() && work.is_finished();
  }

  std::uint64_t number = 0;
  std::unique_ptr<version_content> content;
  std::atomic<std::size_t> calls = 0;  ///< in progress; raised under the lock of the publication
  queued_work work;
};

}  // namespace fatlink::detail
