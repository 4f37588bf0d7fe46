// SPDX-License-Identifier: Apache-2.0
// The versions of a live module or live plan: the published one and its calls, what each version
// has queued on the device, and the unloading of those that were replaced.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fatlink/device_backend.hpp"
#include "fatlink/stream.hpp"
#include "live/background_thread.hpp"

namespace fatlink::detail {

/// Events without times that are used again, because creating one costs a launch more than
/// recording it. Ownership: keeps the device alive; destroys the events that it holds. Threads:
/// safe.
class event_pool {
 public:
  explicit event_pool(std::shared_ptr<device_backend> backend) : backend_(std::move(backend)) {}
  ~event_pool();
  event_pool(event_pool const&) = delete;
  event_pool& operator=(event_pool const&) = delete;

  [[nodiscard]] device_backend& backend() const noexcept { return *backend_; }

  /// An event of the pool, or a new one. The caller gives it back with put().
  /// @throws device_error the driver creates none.
  [[nodiscard]] device_backend::handle take();
  /// Takes an event whose recorded work has finished.
  void put(device_backend::handle event) noexcept;

 private:
  std::shared_ptr<device_backend> backend_;
  std::mutex mutex_;
  std::vector<device_backend::handle> events_;
};

/// What the launches of one version have queued on the device: for each stream an event that is
/// recorded behind the last launch. A stream is known by its id and touched only during a launch,
/// so that its owner may destroy it afterwards. Threads: safe; see is_finished.
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

/// What a version runs: a loaded module with its kernels, or a prepared plan.
class version_content {
 public:
  version_content() = default;
  virtual ~version_content() = default;
  version_content(version_content const&) = delete;
  version_content& operator=(version_content const&) = delete;
};

/// One version of a live module or live plan. Threads: see the members.
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

/// The version that is published, and the unloading of those before it. A thread of its own unloads
/// a version when the device has finished its work: it asks events, and waits for no stream and no
/// device. It ends with the publication. A process that is forked from this one unloads nothing. A
/// call that uses a version holds a lock only to take it: for as long as copying a pointer takes.
/// Links, loads and unloads happen outside of that lock. Threads: safe.
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

/// @throws usage_error always: no version is published.
[[noreturn]] void fail_unpublished();

/// Takes the published version and, on a GPU, the event of the stream; records the event behind the
/// launches that its owner queues, and lets the version go. Nothing uses the stream afterwards.
/// Threads: one at a time.
class live_call {
 public:
  /// `choose`: as publication::begin_call. @throws usage_error no version is published, or `stream`
  /// belongs to another device. @throws device_error the driver fails.
  template <typename Choose>
  live_call(publication& versions, stream_view stream, Choose const& choose)
      : device_(versions.backend()), stream_(stream.handle_on(device_)), version_(nullptr)
  {
    stream_facts facts;
    if (!device_.is_synchronous()) facts = device_.describe_stream(stream_);
    version_ = versions.begin_call(choose);
    if (version_ == nullptr) fail_unpublished();
    prepare(facts);
  }
  /// A call that queues nothing.
  template <typename Choose>
  live_call(publication& versions, Choose const& choose)
      : device_(versions.backend()), stream_(nullptr), version_(versions.begin_call(choose))
  {
    if (version_ == nullptr) fail_unpublished();
  }
  ~live_call();
  live_call(live_call const&) = delete;
  live_call& operator=(live_call const&) = delete;

  [[nodiscard]] code_version& version() const noexcept { return *version_; }

 private:
  void prepare(stream_facts const& facts);

  device_backend& device_;
  device_backend::handle stream_;
  code_version* version_;
  queued_work::stream_event event_;
};

}  // namespace fatlink::detail
