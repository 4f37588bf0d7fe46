// SPDX-License-Identifier: Apache-2.0
// The primary context of a GPU, and a call's turn at the driver's lock.
#pragma once

#include <string>

#include "device/context_guard.hpp"
#include "device/cuda_driver.hpp"
#include "device/driver_gate.hpp"

namespace fatlink::detail {

/// Retains the primary context and never releases it: at process exit the driver may be unloaded
/// before the destructors of static objects run.
///
/// Each thread has a current context of its own, so every call makes this one current. `enter…`
/// throws where that fails; `try_enter…` returns what is false. Threads may call all members at
/// once.
class gpu_context {
 public:
  /// What a call holds: its turn at the driver's lock, and the current context.
  template <typename Call>
  struct entry {
    Call turn;
    context_guard context;
    explicit operator bool() const noexcept { return static_cast<bool>(context); }
  };

  /// @param name  of the GPU, for errors; must live as long as this object
  gpu_context(driver const& api, int ordinal, std::string const& name);

  /// For driver calls that need no turn.
  [[nodiscard]] context_guard enter() const { return {api_, context_, none_before_, name_}; }
  [[nodiscard]] context_guard try_enter() const noexcept { return {api_, context_, none_before_}; }

  /// For driver calls that share the driver's lock.
  [[nodiscard]] entry<driver_gate::shared_call> enter_shared() const
  {
    return {share_driver(), enter()};
  }
  /// For driver calls that share the driver's lock and may wait for the GPU.
  [[nodiscard]] entry<driver_gate::blocking_call> enter_to_copy() const
  {
    return {driver_gate::blocking_call(gate_), enter()};
  }
  /// For driver calls that take the driver's lock exclusively. Not frees, which wait for the GPU.
  [[nodiscard]] entry<driver_gate::exclusive_call> enter_exclusively() const
  {
    return {driver_gate::exclusive_call(gate_), enter()};
  }
  [[nodiscard]] entry<driver_gate::exclusive_call> try_enter_exclusively() const noexcept
  {
    return {driver_gate::exclusive_call(gate_), try_enter()};
  }
  /// The turn of `enter_shared` alone.
  [[nodiscard]] driver_gate::shared_call share_driver() const
  {
    return driver_gate::shared_call(gate_);
  }

 private:
  driver const& api_;
  std::string const& name_;
  driver_gate& gate_ = driver_gate::of_process();
  CUcontext context_ = nullptr;
  /// What CUDA's runtime and frameworks take for their current device is GPU 0 without a context.
  context_guard::none_before none_before_ = context_guard::none_before::is_replaced;
};

}  // namespace fatlink::detail
