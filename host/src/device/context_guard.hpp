// SPDX-License-Identifier: Apache-2.0
// The CUDA context that is current to the calling thread, for the time of one call of fatlink.
// Threads: each thread has a current context of its own; one object is used by one thread.
#pragma once

#include <string>

#include "device/cuda_driver.hpp"

namespace fatlink::detail {

/// While it lives, `context` is current. Then the context that was current before is current again.
/// One driver call if `context` is current already, two or three otherwise.
class context_guard {
 public:
  /// What happens in the end in a thread that had no context.
  enum class none_before {
    is_replaced,  ///< `context` stays current, so that later calls need not set it
    is_restored,
  };

  context_guard(driver const& api, CUcontext context, none_before none) noexcept : api_(api)
  {
    if (api_.context_get_current(&former_) != CUDA_SUCCESS) former_ = nullptr;  // it was destroyed
    if (former_ == context) return;
    code_ = api_.context_set_current(context);
    must_restore_ =
        code_ == CUDA_SUCCESS && (former_ != nullptr || none == none_before::is_restored);
  }
  /// `gpu`: its name, for the message. @throws device_error the driver fails the call.
  context_guard(driver const& api, CUcontext context, none_before none, std::string const& gpu)
      : context_guard(api, context, none)
  {
    api_.check(code_, "entering", gpu);
  }
  ~context_guard()
  {
    if (must_restore_) (void)api_.context_set_current(former_);
  }
  context_guard(context_guard const&) = delete;
  context_guard& operator=(context_guard const&) = delete;

  /// Whether `context` is current.
  explicit operator bool() const noexcept { return code_ == CUDA_SUCCESS; }

 private:
  driver const& api_;
  CUcontext former_ = nullptr;
  bool must_restore_ = false;
  CUresult code_ = CUDA_SUCCESS;
};

}  // namespace fatlink::detail
