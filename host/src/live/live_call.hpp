// SPDX-License-Identifier: Apache-2.0
// A call that uses the published version. Threads: one at a time.
#pragma once

#include <utility>

#include "fatlink/stream.hpp"
#include "live/publication.hpp"

namespace fatlink::detail {

/// @throws usage_error always: no version is published.
[[noreturn]] void fail_unpublished();

/// Takes the published version and, on a GPU, the event of the stream; records the event behind the
/// launches that its owner queues, and lets the version go. Nothing uses the stream afterwards.
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
