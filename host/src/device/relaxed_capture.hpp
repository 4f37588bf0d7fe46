// SPDX-License-Identifier: Apache-2.0
// Calls of the driver beside captures of CUDA graphs. Threads: one at a time.
#pragma once

#include "device/cuda_driver.hpp"

namespace fatlink::detail {

/// While it lives, calls of this thread that would invalidate a capture of another thread
/// (cuStreamBeginCapture in global mode) neither do so nor fail.
class relaxed_capture {
 public:
  explicit relaxed_capture(driver const& api) noexcept : api_(api) { exchange(); }
  ~relaxed_capture() { exchange(); }
  relaxed_capture(relaxed_capture const&) = delete;
  relaxed_capture& operator=(relaxed_capture const&) = delete;

 private:
  void exchange() noexcept { (void)api_.exchange_capture_mode(&mode_); }

  driver const& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace fatlink::detail
