// SPDX-License-Identifier: Apache-2.0
// Streams, own and borrowed, and events. Work on one stream runs in order; work on different
// streams may overlap. Streams that fatlink creates do not wait for the default stream
// (CU_STREAM_NON_BLOCKING). The reference device has finished every call when it returns.
// Ownership: streams and events keep their device alive; a stream_view owns nothing.
// Threads: one stream is used by one thread at a time.
#pragma once

#include <memory>

#include "fatlink/device_backend.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// A queue of work on a device. Calls on a moved-from stream throw usage_error.
class stream {
 public:
  /// @throws usage_error no backend. @throws device_error the driver creates no stream.
  explicit stream(std::shared_ptr<device_backend> backend);

  /// Waits until all work queued on it has finished.
  /// @throws device_error that work failed.
  void synchronize() { require_device(backend_, "the stream").synchronize(handle_.get()); }
  /// The CUstream, for the driver's and the runtime's calls; valid as long as this stream. An
  /// opaque value on the reference device. Null when moved from.
  [[nodiscard]] void* native_handle() const noexcept { return handle_.get(); }
  /// The device; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

/// A stream that somebody else owns: a `stream`, or the CUstream or cudaStream_t of other CUDA
/// code. Launches, copies, fills and events take it. The owner keeps the stream alive until the
/// queued work has finished.
class stream_view {
 public:
  /// Borrows a CUstream or cudaStream_t, which must belong to the primary context of the device
  /// that it is used with, as every stream of the CUDA runtime does. Null is the (legacy) default
  /// stream; CU_STREAM_LEGACY and CU_STREAM_PER_THREAD work, too. The driver reports other handles
  /// when it detects them (CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_CONTEXT).
  /// The reference device takes null and the native_handle() of its own streams; calls with another
  /// handle throw usage_error.
  explicit stream_view(void* native_handle) noexcept : handle_(native_handle) {}
  /// @throws usage_error `owner` was moved from.
  stream_view(stream const& owner)
      : backend_(&require_device(owner.backend(), "the stream")), handle_(owner.native_handle())
  {
  }

  /// The CUstream, or an opaque value on the reference device.
  [[nodiscard]] void* native_handle() const noexcept { return handle_; }

  /// The handle for calls on `device`.
  /// @throws usage_error the stream is a `stream` of another device.
  [[nodiscard]] device_backend::handle handle_on(device_backend const& device) const;

 private:
  device_backend const* backend_ = nullptr;  ///< null: borrowed from other code
  void* handle_ = nullptr;
};

/// A point in the work of a stream. Calls on a moved-from event throw usage_error.
class event {
 public:
  /// @throws usage_error no backend. @throws device_error the driver creates no event.
  explicit event(std::shared_ptr<device_backend> backend);

  /// Queues the recording of this event.
  /// @throws usage_error `stream` belongs to another device.
  void record(stream_view stream)
  {
    auto& device = require_device(backend_, "the event");
    device.record(handle_.get(), stream.handle_on(device));
  }
  /// Milliseconds between the two events; waits until this one is reached.
  /// @throws usage_error `earlier` belongs to another device.
  /// @throws device_error one of them was not recorded, or work before them failed.
  [[nodiscard]] double ms_since(event const& earlier) const
  {
    auto& device = require_device(backend_, "the event");
    check_same_device(backend_, earlier.backend_, "the earlier event");
    return device.elapsed_ms(earlier.handle_.get(), handle_.get());
  }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

}  // namespace fatlink
