// SPDX-License-Identifier: Apache-2.0
// The interface that each kind of device implements. Callers use the types of device.hpp, which are
// built on it. Units: bytes, milliseconds. Threads: safe, except that one stream is used by one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fatlink/bytes.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/kernel_attributes.hpp"
#include "fatlink/launch_shape.hpp"
#include "fatlink/texture_format.hpp"

namespace FATLINK_API fatlink {

/// A module's variable in the device's memory.
struct device_variable {
  device_address address = 0;  ///< where it begins
  std::size_t bytes = 0;       ///< its size
};

/// fatlink's memory pool of a GPU, which has the scratch arrays of plans' calls.
struct memory_pool_state {
  std::size_t limit_bytes = 0;     ///< what it keeps, at most, when a stream has been synchronized
  std::size_t reserved_bytes = 0;  ///< of the GPU's memory, used or kept
  std::size_t used_bytes = 0;      ///< by calls whose release has not been executed
};

/// Texels in linear memory of a device.
struct linear_texels {
  device_address address = 0;  ///< of the first one
  texel_format format = {};    ///< of each
  std::size_t width = 0;       ///< texels, of a row
  std::size_t height = 0;      ///< rows; 0: texels that are read by index (tex1Dfetch)
  std::size_t row_bytes = 0;   ///< from row to row; unused where height is 0
};

/// What a device tells of a stream.
struct stream_facts {
  /// A number that no other stream of the device has had or will have, unlike its handle, which a
  /// later stream may get. The per-thread default stream has one for each thread.
  std::uint64_t id = 0;
  /// Whether the work that is queued on it is recorded into a CUDA graph instead of executed.
  bool is_capturing = false;
};

/// Handles belong to the backend that returned them. Stream handles are also taken from callers: on
/// a GPU any CUstream of the primary context, null being the default stream; on the reference
/// device null or the handle of one of its streams.
/// @throws device_error every call that the driver fails; the message names the call.
/// @throws usage_error (reference device) a stream handle that is not its own.
class device_backend {
 public:
  /// A module, kernel, stream, event or array of the backend.
  using handle = void*;
  virtual ~device_backend() = default;

  /// Facts about the device.
  [[nodiscard]] virtual device_info const& info() const noexcept = 0;
  /// Uninitialised memory, also for 0 bytes.
  virtual device_address allocate(std::size_t bytes) = 0;
  /// Frees what allocate() returned, or ends what map_host() began.
  virtual void release(device_address address) noexcept = 0;
  /// Lets kernels work on `bytes` bytes of the host at `memory`, until release() of the address
  /// that is returned; it is equal to `memory` modulo 512. With `read_only`, writes fail.
  /// @throws usage_error the device is a GPU.
  virtual device_address map_host(void* memory, std::size_t bytes, bool read_only);
  /// Uninitialised memory for work that is queued on `stream` from now on, from fatlink's memory
  /// pool of the device (cuMemAllocFromPoolAsync); also for 0 bytes. While the stream is captured,
  /// the graph owns the memory.
  virtual device_address allocate(std::size_t bytes, handle stream) = 0;
  /// Queues the release of what allocate() with a stream returned.
  virtual void release(device_address address, handle stream) noexcept = 0;
  /// As device::memory_pool.
  [[nodiscard]] virtual memory_pool_state memory_pool() { return {}; }
  /// As device::limit_memory_pool.
  virtual void limit_memory_pool(std::size_t /*bytes*/) {}
  /// As device::trim_memory_pool.
  virtual void trim_memory_pool(std::size_t /*keep*/) {}
  /// Copies to the device. Complete when it returns: work queued later on any stream sees the
  /// bytes.
  virtual void copy_in(device_address destination, bytes_view source) = 0;
  /// Queues the same on `stream`.
  virtual void copy_in(device_address destination, bytes_view source, handle stream) = 0;
  /// Copies to the host. Complete when it returns.
  virtual void copy_out(std::span<std::byte> destination, device_address source) = 0;
  /// Queues the same on `stream`.
  virtual void copy_out(std::span<std::byte> destination, device_address source, handle stream) = 0;
  /// Queues a copy within the device on `stream`.
  virtual void copy_on_device(device_address destination, device_address source, std::size_t bytes,
                              handle stream) = 0;
  /// Sets every byte to `value`. Complete when it returns, as copy_in.
  virtual void fill(device_address destination, std::byte value, std::size_t bytes) = 0;
  /// Queues the same on `stream`.
  virtual void fill(device_address destination, std::byte value, std::size_t bytes,
                    handle stream) = 0;

  /// @throws device_error (code invalid-image) `image` is not of a kind that the device loads.
  virtual handle load(linked_image const& image) = 0;
  /// Unloads a module and forgets its kernels.
  virtual void unload(handle module) noexcept = 0;
  /// The kernel's handle is valid until its module is unloaded. Its code is on the device when this
  /// returns, also where the driver would load it at the first launch (CUDA_MODULE_LOADING=LAZY).
  /// @throws file_error (stage device) the image has no such kernel.
  virtual handle find_kernel(handle module, std::string const& name) = 0;
  /// @throws file_error (stage device) the image has no such variable.
  virtual device_variable find_variable(handle module, std::string const& name) = 0;

  /// Sizes of the kernel's parameters, in order; valid as long as the kernel.
  [[nodiscard]] virtual std::span<std::size_t const> parameter_sizes(
      handle kernel) const noexcept = 0;
  /// The CUfunction; null on the reference device.
  [[nodiscard]] virtual void* native_kernel(handle kernel) const noexcept = 0;
  /// As untyped_kernel::attributes.
  [[nodiscard]] virtual kernel_attributes attributes(handle kernel) = 0;
  /// As untyped_kernel::active_blocks_per_multiprocessor.
  [[nodiscard]] virtual unsigned active_blocks(handle kernel, unsigned block_threads,
                                               std::size_t shared_bytes) = 0;
  /// As untyped_kernel::suggest_block_size.
  [[nodiscard]] virtual block_size_suggestion suggest_block(handle kernel,
                                                            std::size_t shared_bytes) = 0;
  /// `arguments[i]` points to the value of the i-th parameter; there are as many as parameters.
  virtual void launch(handle kernel, handle stream, launch_shape const& shape,
                      void* const* arguments) = 0;

  /// A stream that does not wait for the default stream.
  virtual handle create_stream() = 0;
  /// Destroys what create_stream() returned; its queued work is finished first.
  virtual void destroy_stream(handle stream) noexcept = 0;
  /// Waits until all work queued on `stream` has finished.
  virtual void synchronize(handle stream) = 0;
  /// Facts about `stream` at this moment.
  [[nodiscard]] virtual stream_facts describe_stream(handle stream) = 0;
  /// Whether all work that a call queues has finished when the call returns, so that nothing needs
  /// to be waited for.
  [[nodiscard]] virtual bool is_synchronous() const noexcept = 0;
  /// An event that is not recorded.
  virtual handle create_event() = 0;
  /// The same, for event_done() only: it records no time, which costs less.
  virtual handle create_untimed_event() = 0;
  /// Destroys what create_event() returned.
  virtual void destroy_event(handle event) noexcept = 0;
  /// Queues the recording of `event` on `stream`.
  virtual void record(handle event, handle stream) = 0;
  /// Whether the work queued before the last recording of `event` has finished or failed, or there
  /// was no recording. Does not wait.
  [[nodiscard]] virtual bool event_done(handle event) noexcept = 0;
  /// Milliseconds between two recorded events; waits for the later one.
  virtual double elapsed_ms(handle start, handle stop) = 0;

  /// Uninitialised texels of a format and shape for which texel_count() has thrown nothing.
  virtual handle create_array(texel_format const& format, array_shape const& shape) = 0;
  /// Destroys what create_array() returned.
  virtual void destroy_array(handle array) noexcept = 0;
  /// Copies all texels to the array. Complete when it returns, as copy_in.
  virtual void write_array(handle array, bytes_view texels) = 0;
  /// Copies all texels to the host. Complete when it returns.
  virtual void read_array(handle array, std::span<std::byte> texels) = 0;
  /// A texture of an array, with options that fit it.
  virtual std::uint64_t create_texture(handle array, texture_options const& options) = 0;
  /// A texture of linear memory, with options that fit it.
  virtual std::uint64_t create_texture(linear_texels const& texels,
                                       texture_options const& options) = 0;
  /// Destroys what create_texture() returned.
  virtual void destroy_texture(std::uint64_t texture) noexcept = 0;
  /// A surface of an array that allows it.
  virtual std::uint64_t create_surface(handle array) = 0;
  /// Destroys what create_surface() returned.
  virtual void destroy_surface(std::uint64_t surface) noexcept = 0;

  /// PTX instructions executed so far, counted once for each thread; 0 on a GPU, which does not
  /// count them.
  [[nodiscard]] virtual std::uint64_t instructions() const noexcept { return 0; }
};

/// The device that `object` ("the stream") belongs to.
/// @throws usage_error `object` has no device: it was moved from.
device_backend& require_device(std::shared_ptr<device_backend> const& backend, char const* object);

/// @throws usage_error `object` belongs to another device than `expected`, or was moved from. Two
///   device objects opened for one GPU are the same device.
void check_same_device(std::shared_ptr<device_backend> const& expected,
                       std::shared_ptr<device_backend> const& actual, char const* object);

}  // namespace fatlink
