// SPDX-License-Identifier: Apache-2.0
#include "live/live_call.hpp"

#include "device/misuse.hpp"

namespace fatlink::detail {

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
