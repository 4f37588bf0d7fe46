// SPDX-License-Identifier: Apache-2.0
// The version that is published, and the unloading of those before it. A thread of its own unloads
// a version when the device has finished its work: it asks events, and waits for no stream and no
// device. It ends with the publication. A process that is forked from this one unloads nothing.
//
// A call that uses a version holds a lock only to take it: for as long as copying a pointer takes.
// Links, loads and unloads happen outside of that lock. Threads: safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "live/background_thread.hpp"
#include "live/code_version.hpp"

namespace fatlink::detail {

class publication {
 public:
  explicit publication(std::shared_ptr<device_backend> backend);
  /// Unloads all versions; waits until the device has finished their work. No call is in progress.
  ~publication();
  publication(publication const&) = delete;
  publication& operator=(publication const&) = delete;

  [[nodiscard]] device_backend& backend() const noexcept { return pool_->backend(); }

  /// A version of `content`, not published.
  [[nodiscard]] std::unique_ptr<code_version> make_version(
      std::unique_ptr<version_content> content) const
  {
    return std::make_unique<code_version>(std::move(content), pool_);
  }

  /// Replaces the published version, and returns the number of `version`: 1, 2, …
  std::uint64_t publish(std::unique_ptr<code_version> version);

  /// The published version, for a call, which ends with end_call(). `choose`, which is called with
  /// its content under the lock, takes from it what the call uses. Null before the first version.
  template <typename Choose>
  [[nodiscard]] code_version* begin_call(Choose const& choose)
  {
    std::lock_guard const lock(mutex_);
    if (!published_) return nullptr;
    choose(*published_->content);
    published_->calls.fetch_add(1, std::memory_order_relaxed);
    return published_.get();
  }
  static void end_call(code_version& version) noexcept
  {
    version.calls.fetch_sub(1, std::memory_order_release);
  }

  [[nodiscard]] bool has_version()
  {
    std::lock_guard const lock(mutex_);
    return published_ != nullptr;
  }

  /// Calls `change` with the content of the published version, which must exist, under the lock.
  template <typename Change>
  void change(Change const& change)
  {
    std::lock_guard const lock(mutex_);
    change(*published_->content);
  }

  /// Versions that are replaced and not yet unloaded; pinned ones left out.
  [[nodiscard]] std::size_t retired_count();

 private:
  using version_list = std::vector<std::unique_ptr<code_version>>;

  void retire(std::unique_ptr<code_version> version);
  void unload_finished_versions();
  [[nodiscard]] version_list take_finished();

  std::shared_ptr<event_pool> pool_;
  std::mutex mutex_;  ///< of published_
  std::unique_ptr<code_version> published_;
  std::uint64_t count_ = 0;

  std::mutex retired_mutex_;
  std::condition_variable retired_changed_;
  version_list retired_;
  bool is_ending_ = false;
  background_thread unloading_;  ///< last: it uses the other members
};

}  // namespace fatlink::detail
