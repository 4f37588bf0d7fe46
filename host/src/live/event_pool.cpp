// SPDX-License-Identifier: Apache-2.0
#include "live/event_pool.hpp"

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

}  // namespace fatlink::detail
