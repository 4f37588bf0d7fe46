// SPDX-License-Identifier: Apache-2.0
#include "cache/memory_layer.hpp"

namespace fatlink::cache {

memory_layer::value memory_layer::find_or_make(std::string const& parts,
                                               std::function<made()> const& make, bool& was_there)
{
  std::promise<value> promise;
  {
    std::unique_lock held(mutex_);
    if (auto const at = slots_.find(parts); at != slots_.end()) {
      was_there = true;
      if (at->second.bytes != 0) {
        used_.splice(used_.begin(), used_, at->second.used);
        return at->second.link.get();
      }
      auto const pending = at->second.link;
      held.unlock();
      return pending.get();
    }
    slots_.emplace(parts, slot{.link = promise.get_future().share()});
  }
  was_there = false;
  made link;
  try {
    link = make();
  } catch (...) {
    forget(parts);
    promise.set_exception(std::current_exception());
    throw;
  }
  promise.set_value(link.link);
  if (link.keep)
    keep(parts, link.link);
  else
    forget(parts);
  return link.link;
}

void memory_layer::forget(std::string const& parts)
{
  std::lock_guard const held(mutex_);
  slots_.erase(parts);
}

void memory_layer::keep(std::string const& parts, value const& link)
{
  std::lock_guard const held(mutex_);
  auto const at = slots_.find(parts);
  at->second.bytes = link->bytes.size() + parts.size() + sizeof(slot);
  used_.push_front(&at->first);
  at->second.used = used_.begin();
  bytes_ += at->second.bytes;
  shrink();
}

void memory_layer::shrink()
{
  while (bytes_ > limit_ && used_.size() > 1) {
    auto const oldest = slots_.find(*used_.back());
    bytes_ -= oldest->second.bytes;
    used_.pop_back();
    slots_.erase(oldest);
  }
}

}  // namespace fatlink::cache
