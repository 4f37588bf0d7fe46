// SPDX-License-Identifier: Apache-2.0
#include "live/publication.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "util/process/immortal.hpp"

namespace fatlink::detail {
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

}  // namespace fatlink::detail
