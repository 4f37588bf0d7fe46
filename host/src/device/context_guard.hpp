// SPDX-License-Identifier: Apache-2.0
// The CUDA context that is current to the calling thread, for the time of one call of fatlink.
// Threads: each thread has a current context of its own; one object is used by one thread.
#pragma once

#include <string>

#include "device/cuda_driver.hpp"

namespace fatlink::detail {

/// While it lives, `context` is current. Then the context that was current before is current again;
/// where there was none, `context` stays. Calls the driver twice only for another context.
class context_guard {
 public:
  context_guard(driver const& api, CUcontext context) noexcept : api_(api)
  {
    code_ = api_.context_get_current(&former_);
    if (code_ != CUDA_SUCCESS || former_ == context) {
      former_ = nullptr;
      return;
    }
    code_ = api_.context_set_current(context);
  }
  /// `gpu`: its name, for the message. @throws device_error the driver fails the call.
  context_guard(driver const& api, CUcontext context, std::string const& gpu)
      : context_guard(api, context)
  {
    api_.check(code_, "entering", gpu);
  }
  ~context_guard()
  {
    if (former_ != nullptr) (void)api_.context_set_current(former_);
  }
  context_guard(context_guard const&) = delete;
  context_guard& operator=(context_guard const&) = delete;

  /// Whether `context` is current.
  explicit operator bool() const noexcept { return code_ == CUDA_SUCCESS; }

 private:
  driver const& api_;
  CUcontext former_ = nullptr;  ///< to restore
  CUresult code_ = CUDA_SUCCESS;
};

}  // namespace fatlink::detail
