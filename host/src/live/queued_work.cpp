// SPDX-License-Identifier: Apache-2.0
#include "live/queued_work.hpp"

#include <algorithm>
#include <utility>

namespace fatlink::detail {

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

}  // namespace fatlink::detail
