// SPDX-License-Identifier: Apache-2.0
#include "cache/memory_layer.hpp"

namespace fatlink::cache {

memory_layer::value memory_layer::find_or_make(std::string const& parts,
                                               std::function<made()> const& make, bool& was_there)
{
  std::promise<value> promise;
  while (auto const pending = find_or_claim(parts, promise)) {
    was_there = true;
    // Without one its maker failed, or made something else: the next may be luckier.
    if (auto link = pending->get()) return link;
  }
  was_there = false;
  made link;
  try {
    link = make();
  } catch (...) {
    forget(parts);
    promise.set_value(nullptr);
    throw;
  }
  if (link.keep) {
    promise.set_value(link.link);
    keep(parts, link.link);
  } else {
    forget(parts);
    promise.set_value(nullptr);
  }
  return link.link;
}

std::optional<std::shared_future<memory_layer::value>> memory_layer::find_or_claim(
    std::string const& parts, std::promise<value>& promise)
{
  std::lock_guard const held(mutex_);
  auto const at = slots_.find(parts);
  if (at == slots_.end()) {
    slots_.emplace(parts, slot{.link = promise.get_future().share()});
    return std::nullopt;
  }
  if (at->second.bytes != 0) used_.splice(used_.begin(), used_, at->second.used);
  return at->second.link;
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
