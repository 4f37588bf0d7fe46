// SPDX-License-Identifier: Apache-2.0
// Events without times that are used again, because creating one costs a launch more than recording
// it. Ownership: keeps the device alive; destroys the events that it holds. Threads: safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

class event_pool {
 public:
  explicit event_pool(std::shared_ptr<device_backend> backend) : backend_(std::move(backend)) {}
  ~event_pool();
  event_pool(event_pool const&) = delete;
  event_pool& operator=(event_pool const&) = delete;

  [[nodiscard]] device_backend& backend() const noexcept { return *backend_; }

  /// An event of the pool, or a new one. The caller gives it back with put().
  /// @throws device_error the driver creates none.
  [[nodiscard]] device_backend::handle take();
  /// Takes an event whose recorded work has finished.
  void put(device_backend::handle event) noexcept;

 private:
  std::shared_ptr<device_backend> backend_;
  std::mutex mutex_;
  std::vector<device_backend::handle> events_;
};

}  // namespace fatlink::detail
