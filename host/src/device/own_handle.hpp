// SPDX-License-Identifier: Apache-2.0
// Handles of a backend that are released with their last owner. Threads: as std::shared_ptr.
#pragma once

#include <memory>

#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// Owns `handle`, which `destroy` releases, and keeps `backend` alive.
inline std::shared_ptr<void> own_handle(
    std::shared_ptr<device_backend> const& backend, device_backend::handle handle,
    void (device_backend::*destroy)(device_backend::handle) noexcept)
{
  return {handle,
          [backend, destroy](device_backend::handle owned) { ((*backend).*destroy)(owned); }};
}

}  // namespace fatlink::detail
