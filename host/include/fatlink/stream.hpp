// SPDX-License-Identifier: Apache-2.0
// Streams and events. A stream is created by fatlink or borrowed from other CUDA code. Work on one
// stream runs in order; work on different streams may overlap. Streams that fatlink creates do not
// wait for the default stream (CU_STREAM_NON_BLOCKING). On the reference device, every call is
// complete when it returns.
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
  /// @throws usage_error `backend` is null. @throws device_error the driver cannot create a stream.
  explicit stream(std::shared_ptr<device_backend> backend);

  /// Waits until all work queued on the stream has finished. @throws device_error the work failed.
  void synchronize() { require_device(backend_, "the stream").synchronize(handle_.get()); }
  /// The CUstream, for calls of the driver and the runtime; valid while this stream exists. On the
  /// reference device, an opaque value. Null when moved from.
  [[nodiscard]] void* native_handle() const noexcept { return handle_.get(); }
  /// The device; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

/// A non-owning reference to a stream: a `stream`, or a CUstream or cudaStream_t of other CUDA
/// code. Launches, copies, fills and events take a stream_view. The owner must keep the stream
/// alive until the queued work has finished.
class stream_view {
 public:
  /// Refers to a CUstream or cudaStream_t. It must belong to the primary context of the device that
  /// it is used with, as every stream of the CUDA runtime does. Null is the legacy default stream;
  /// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are allowed. The driver reports invalid handles if
  /// it detects them (CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_CONTEXT). The reference device
  /// accepts null and the native_handle() of its own streams; calls with another handle throw
  /// usage_error.
  explicit stream_view(void* native_handle) noexcept : handle_(native_handle) {}
  /// @throws usage_error `owner` was moved from.
  stream_view(stream const& owner)
      : backend_(&require_device(owner.backend(), "the stream")), handle_(owner.native_handle())
  {
  }

  /// The CUstream, or an opaque value on the reference device.
  [[nodiscard]] void* native_handle() const noexcept { return handle_; }

  /// The handle for calls on `device`.
  /// @throws usage_error this refers to a `stream` of another device.
  [[nodiscard]] device_backend::handle handle_on(device_backend const& device) const;

 private:
  device_backend const* backend_ = nullptr;  ///< null: borrowed from other code
  void* handle_ = nullptr;
};

/// A point in the work of a stream. Calls on a moved-from event throw usage_error.
class event {
 public:
  /// @throws usage_error `backend` is null. @throws device_error the driver cannot create an event.
  explicit event(std::shared_ptr<device_backend> backend);

  /// Queues the recording of this event.
  /// @throws usage_error `stream` belongs to another device.
  void record(stream_view stream)
  {
    auto& device = require_device(backend_, "the event");
    device.record(handle_.get(), stream.handle_on(device));
  }
  /// Milliseconds between the two events; waits until this event has been reached.
  /// @throws usage_error `earlier` belongs to another device.
  /// @throws device_error one of the events was not recorded, or work before them failed.
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
