// SPDX-License-Identifier: Apache-2.0
#include "cache/memory_layer.hpp"

#include "util/process/cancel_check.hpp"

namespace fatlink::cache {
namespace {

/// Returns whether `link` is ready at `end`. The largest time point would overflow in wait_until.
/// @throws cancelled_error
bool wait(std::shared_future<memory_layer::value> const& link, memory_layer::clock::time_point end)
{
  using detail::k_ask_interval;
  auto const is_endless = end == memory_layer::clock::time_point::max();
  if (!detail::may_be_cancelled())
    return is_endless || link.wait_until(end) == std::future_status::ready;
  while (link.wait_for(k_ask_interval) != std::future_status::ready) {
    if (!is_endless && memory_layer::clock::now() >= end) return false;
    detail::throw_if_cancelled(stage::cache);
  }
  return true;
}

}  // namespace

memory_layer::result memory_layer::find_or_make(std::string const& parts,
                                                std::function<product()> const& make,
                                                clock::time_point wait_end)
{
  std::promise<value> promise;
  while (auto const pending = find_or_claim(parts, promise)) {
    if (!wait(*pending, wait_end)) return {make().link, false};
    if (auto link = pending->get()) return {std::move(link), true};
  }
  // No link: it does not exist, or the thread that was making it failed or did not keep it.
  product made_link;
  try {
    made_link = make();
  } catch (...) {
    forget(parts);
    promise.set_value(nullptr);
    throw;
  }
  if (made_link.keep) {
    promise.set_value(made_link.link);
    keep(parts, made_link.link);
  } else {
    forget(parts);
    promise.set_value(nullptr);
  }
  return {std::move(made_link.link), false};
}

std::optional<std::shared_future<memory_layer::value>> memory_layer::find_or_claim(
    std::string const& parts, std::promise<value>& promise)
{
  std::lock_guard const guard(mutex_);
  auto const entry = slots_.find(parts);
  if (entry == slots_.end()) {
    slots_.emplace(parts, slot{.link = promise.get_future().share()});
    return std::nullopt;
  }
  auto const& present = entry->second;
  if (present.bytes != 0) used_.splice(used_.begin(), used_, present.position);
  return present.link;
}

void memory_layer::forget(std::string const& parts)
{
  std::lock_guard const guard(mutex_);
  slots_.erase(parts);
}

void memory_layer::keep(std::string const& parts, value const& link)
{
  std::lock_guard const guard(mutex_);
  auto const entry = slots_.find(parts);
  auto& kept = entry->second;
  kept.bytes = link->bytes.size() + parts.size() + sizeof(slot);
  used_.push_front(&entry->first);
  kept.position = used_.begin();
  bytes_ += kept.bytes;
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
