// SPDX-License-Identifier: Apache-2.0
// Streams and events of a GPU. The GPU's context must be current to the calling thread.
// Units: milliseconds. Threads: safe, except that one stream is used by one thread at a time.
#pragma once

#include <string>
#include <utility>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

class gpu_streams {
 public:
  /// `gpu`: its name, for messages.
  gpu_streams(driver const& api, std::string gpu) : api_(api), gpu_(std::move(gpu)) {}

  [[nodiscard]] CUstream create_stream() const;
  void destroy_stream(CUstream stream) const noexcept { (void)api_.stream_destroy(stream); }
  void synchronize(CUstream stream) const;
  [[nodiscard]] stream_facts describe(CUstream stream) const;

  [[nodiscard]] CUevent create_event(unsigned flags) const;
  void destroy_event(CUevent event) const noexcept { (void)api_.event_destroy(event); }
  void record(CUevent event, CUstream stream) const;
  /// True also after a failure of the context (CUDA_ERROR_ILLEGAL_ADDRESS), which then executes
  /// nothing any more.
  [[nodiscard]] bool event_done(CUevent event) const noexcept;
  [[nodiscard]] double elapsed_ms(CUevent start, CUevent stop) const;

 private:
  driver const& api_;
  std::string gpu_;
};

}  // namespace fatlink::detail
