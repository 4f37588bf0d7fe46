// SPDX-License-Identifier: Apache-2.0
// Buffers: typed memory on a device, either allocated or a variable of a loaded module.
// Units: elements; addresses and sizes of the device in bytes.
//
// Calls without a stream are complete when they return: a launch that is queued later, on any
// stream, sees their effect. They do not wait for work that was queued earlier; synchronize the
// stream first. Every call throws device_error if the driver reports an error, and usage_error if
// the buffer was moved from.
//
// Calls with a stream are queued and may return before they are complete. Until a copy has
// finished, its host memory must stay valid, and must not be read or changed. To wait for the copy,
// call stream::synchronize, use an event, or synchronize the stream through the API that created
// it. A copy is asynchronous with respect to the host only if the host memory is pinned
// (cudaHostAlloc, cudaHostRegister, cuMemHostRegister). A copy from or to pageable memory is
// ordered on the stream in the same way, but the driver stages it and may block the host; a copy to
// pageable memory has finished when the call returns. If the stream is being captured into a CUDA
// graph, a copy from or to pageable memory throws device_error. On the reference device, every call
// is complete when it returns.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fatlink/device_backend.hpp"
#include "fatlink/export.hpp"
#include "fatlink/stream.hpp"

namespace FATLINK_API fatlink {

/// The size of `count` elements in bytes. @throws usage_error the size exceeds std::size_t.
std::size_t buffer_bytes(std::size_t count, std::size_t element_bytes);

/// The number of elements of a variable. @throws usage_error `bytes` is not a multiple of
/// `element_bytes`.
std::size_t variable_elements(std::string const& name, std::size_t bytes,
                              std::size_t element_bytes);

/// @throws usage_error elements [offset, offset + count) exceed a buffer of `size` elements.
/// `access`: "writing" or "reading", for the message.
void check_buffer_access(char const* access, std::size_t offset, std::size_t count,
                         std::size_t size);

/// An array of objects of type T in device memory. Allocated memory is uninitialised and is freed
/// with the last copy of the buffer. A buffer that refers to a module's variable keeps the module
/// loaded. A moved-from buffer has no elements and no address; all other calls on it throw
/// usage_error.
template <typename T>
class device_buffer {
 public:
  /// Allocates memory for `count` objects.
  /// @throws usage_error the size in bytes overflows, or `backend` is null.
  /// @throws device_error there is not enough memory.
  device_buffer(std::shared_ptr<device_backend> backend, std::size_t count)
      : backend_(std::move(backend)),
        count_(count),
        address_(
            new device_address(
                require_device(backend_, "the buffer").allocate(buffer_bytes(count, sizeof(T)))),
            [device = backend_](device_address* address) {
              device->release(*address);
              delete address;
            })
  {
  }
  /// Refers to `count` elements at `*address`; the deleter of `address` releases them.
  /// @throws usage_error `backend` is null.
  device_buffer(std::shared_ptr<device_backend> backend, std::size_t count,
                std::shared_ptr<device_address> address)
      : backend_(std::move(backend)), count_(count), address_(std::move(address))
  {
    (void)require_device(backend_, "the buffer");
  }

  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return address_ ? count_ : 0; }
  /// The size in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size() * sizeof(T); }
  /// The address of the first element.
  [[nodiscard]] device_address address() const noexcept { return address_ ? *address_ : 0; }
  /// The address as a pointer, to be passed to kernels. Do not dereference it on the host.
  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(address()); }
  /// The device; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// Copies `source` to elements [offset, offset + source.size()).
  /// @throws usage_error they are not all in the buffer.
  void write(std::span<T const> source, std::size_t offset = 0)
  {
    auto& device = writable(source.size(), offset);
    device.copy_in(address_of(offset), std::as_bytes(source));
  }
  /// Queues this copy on `stream`. @throws usage_error `stream` belongs to another device.
  void write(std::span<T const> source, stream_view stream, std::size_t offset = 0)
  {
    auto& device = writable(source.size(), offset);
    device.copy_in(address_of(offset), std::as_bytes(source), stream.handle_on(device));
  }
  /// Copies elements [offset, offset + destination.size()) to `destination`.
  /// @throws usage_error they are not all in the buffer.
  void read(std::span<T> destination, std::size_t offset = 0) const
  {
    auto& device = readable(destination.size(), offset);
    device.copy_out(std::as_writable_bytes(destination), address_of(offset));
  }
  /// Queues this copy on `stream`. @throws usage_error `stream` belongs to another device.
  void read(std::span<T> destination, stream_view stream, std::size_t offset = 0) const
  {
    auto& device = readable(destination.size(), offset);
    device.copy_out(std::as_writable_bytes(destination), address_of(offset),
                    stream.handle_on(device));
  }
  /// Sets every byte to `value`.
  void fill(std::byte value)
  {
    require_device(backend_, "the buffer").fill(*address_, value, size_bytes());
  }
  /// Queues this operation on `stream`. @throws usage_error `stream` belongs to another device.
  void fill(std::byte value, stream_view stream)
  {
    auto& device = require_device(backend_, "the buffer");
    device.fill(*address_, value, size_bytes(), stream.handle_on(device));
  }

 private:
  [[nodiscard]] device_address address_of(std::size_t index) const
  {
    return *address_ + index * sizeof(T);
  }
  [[nodiscard]] device_backend& writable(std::size_t count, std::size_t offset)
  {
    auto& device = require_device(backend_, "the buffer");
    check_buffer_access("writing", offset, count, count_);
    return device;
  }
  [[nodiscard]] device_backend& readable(std::size_t count, std::size_t offset) const
  {
    auto& device = require_device(backend_, "the buffer");
    check_buffer_access("reading", offset, count, count_);
    return device;
  }

  std::shared_ptr<device_backend> backend_;
  std::size_t count_;
  std::shared_ptr<device_address> address_;
};

}  // namespace fatlink
