// SPDX-License-Identifier: Apache-2.0
#include "live/versions.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "device/device_checks.hpp"
#include "util/process/immortal.hpp"

namespace fatlink::detail {

event_pool::~event_pool()
{
  for (auto* const event : events_) backend_->destroy_event(event);
}

device_backend::handle event_pool::take()
{
  {
    std::lock_guard const lock(mutex_);
    if (!events_.empty()) {
      auto* const event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  return backend_->create_untimed_event();
}

void event_pool::put(device_backend::handle event) noexcept
try {
  std::lock_guard const lock(mutex_);
  events_.push_back(event);
} catch (...) {  // no memory for the pool
  backend_->destroy_event(event);
}

queued_work::~queued_work()
{
  for (auto const& [stream, event] : events_) pool_->put(event);
}

queued_work::stream_event queued_work::take(std::uint64_t stream)
{
  {
    std::lock_guard const lock(mutex_);
    if (auto event = events_.extract(stream)) return event;
  }
  auto* const event = pool_->take();
  try {
    event_table table;
    return table.extract(table.emplace(stream, event));
  } catch (...) {
    pool_->put(event);
    throw;
  }
}

/// Two threads that launch on one stream at the same time have an event each.
void queued_work::put(stream_event event) noexcept
{
  std::lock_guard const lock(mutex_);
  events_.insert(std::move(event));
  if (events_.size() > limit_) remove_finished();
}

/// Streams come and go while a version stays.
void queued_work::remove_finished() noexcept
{
  for (auto entry = events_.begin(); entry != events_.end();) {
    if (!pool_->backend().event_done(entry->second)) {
      ++entry;
      continue;
    }
    pool_->put(entry->second);
    entry = events_.erase(entry);
  }
  limit_ = std::max<std::size_t>(64, 2 * events_.size());
}

bool queued_work::is_finished() const noexcept
{
  return std::ranges::all_of(
      events_, [&](auto const& entry) { return pool_->backend().event_done(entry.second); });
}

namespace {

// How often the unloading thread looks at versions whose work has not finished.
constexpr std::chrono::microseconds k_shortest_delay{100};
constexpr std::chrono::microseconds k_longest_delay{10'000};

/// Keeps a version until the process ends: a graph may launch it at any time.
void keep_loaded(std::unique_ptr<code_version> version)
{
  static immortal<std::vector<std::unique_ptr<code_version>>> kept;
  static immortal<std::mutex> mutex;
  std::lock_guard const lock(mutex.get());
  kept.get().push_back(std::move(version));
}

}  // namespace

publication::publication(std::shared_ptr<device_backend> backend)
    : pool_(std::make_shared<event_pool>(std::move(backend))),
      unloading_([this] { unload_finished_versions(); })
{
}

publication::~publication()
{
  if (!unloading_.exists()) {
    (void)published_.release();
    for (auto& version : retired_) (void)version.release();
    return;
  }
  if (published_) retire(std::move(published_));
  {
    std::lock_guard const lock(retired_mutex_);
    is_ending_ = true;
  }
  retired_changed_.notify_one();
  unloading_.join();
}

std::uint64_t publication::publish(std::unique_ptr<code_version> version)
{
  std::uint64_t number = 0;
  {
    std::lock_guard const lock(mutex_);
    number = version->number = ++count_;
    std::swap(published_, version);
  }
  if (version) retire(std::move(version));
  return number;
}

std::size_t publication::retired_count()
{
  std::lock_guard const lock(retired_mutex_);
  return retired_.size();
}

void publication::retire(std::unique_ptr<code_version> version)
{
  {
    std::lock_guard const lock(retired_mutex_);
    retired_.push_back(std::move(version));
  }
  retired_changed_.notify_one();
}

publication::version_list publication::take_finished()
{
  version_list finished;
  version_list others;
  for (auto& version : retired_) {
    auto const is_abandoned = version->calls.load() == 0 && version->work.is_pinned();
    if (is_abandoned)
      keep_loaded(std::move(version));
    else
      (version->is_finished() ? finished : others).push_back(std::move(version));
  }
  retired_ = std::move(others);
  return finished;
}

void publication::unload_finished_versions()
{
  auto delay = k_shortest_delay;
  std::unique_lock lock(retired_mutex_);
  while (true) {
    retired_changed_.wait(lock, [&] { return is_ending_ || !retired_.empty(); });
    if (retired_.empty()) return;
    auto finished = take_finished();
    if (!finished.empty()) {
      lock.unlock();
      finished.clear();  // unloads
      lock.lock();
      delay = k_shortest_delay;
    } else if (!retired_.empty()) {
      lock.unlock();
      std::this_thread::sleep_for(delay);
      lock.lock();
      delay = std::min(2 * delay, k_longest_delay);
    }
  }
}

void fail_unpublished()
{
  fail_use("no version is published", "the live module",
           "call swap with the first inputs before launches");
}

void live_call::prepare(stream_facts const& facts)
try {
  if (device_.is_synchronous()) return;
  if (facts.is_capturing)
    version_->work.pin();
  else
    event_ = version_->work.take(facts.id);
} catch (...) {
  publication::end_call(*version_);
  throw;
}

/// A launch that no event covers is treated as unfinished until the process ends.
live_call::~live_call()
{
  if (event_) {
    try {
      device_.record(event_.mapped(), stream_);
    } catch (...) {
      version_->work.pin();
    }
    version_->work.put(std::move(event_));
  }
  publication::end_call(*version_);
}

}  // namespace fatlink::detail
