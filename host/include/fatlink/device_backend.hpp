// SPDX-License-Identifier: Apache-2.0
// The interface that each kind of device implements. Applications use the types in device.hpp,
// which are built on it.
// Units: bytes, milliseconds.
// Threads: safe, except that a stream may be used only by one thread at a time.
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

/// State of the memory pool that fatlink has on a GPU for the scratch arrays of plans.
struct memory_pool_state {
  std::size_t limit_bytes = 0;     ///< maximum size that it keeps after a stream is synchronized
  std::size_t reserved_bytes = 0;  ///< memory that the pool has reserved, used or unused
  std::size_t used_bytes = 0;      ///< memory that calls have not released yet
};

/// Texels in linear memory of a device.
struct linear_texels {
  device_address address = 0;  ///< address of the first texel
  texel_format format = {};    ///< format of each texel
  std::size_t width = 0;       ///< texels in a row
  std::size_t height = 0;      ///< rows; 0: texels are read by index (tex1Dfetch)
  std::size_t row_bytes = 0;   ///< distance between rows; unused if height is 0
};

/// Facts about a stream.
struct stream_facts {
  /// A number that is unique among all past and future streams of the device; a handle can be
  /// reused by a later stream. The per-thread default stream has one number for each thread. 0 if
  /// `is_capturing`.
  std::uint64_t id = 0;
  /// Whether work queued on the stream is captured into a CUDA graph instead of executed.
  bool is_capturing = false;
};

/// A device. Handles belong to the backend that returned them. Callers may also pass their own
/// streams: on a GPU any CUstream of the primary context (null is the default stream), on the
/// reference device null or the handle of one of its streams.
/// @throws device_error the driver fails a call; the message names the call.
/// @throws usage_error (reference device) a stream handle belongs to another device.
class device_backend {
 public:
  /// A module, kernel, stream, event or array of the backend.
  using handle = void*;
  virtual ~device_backend() = default;

  /// Facts about the device.
  [[nodiscard]] virtual device_info const& info() const noexcept = 0;
  /// Allocates uninitialised memory; 0 bytes are allowed.
  virtual device_address allocate(std::size_t bytes) = 0;
  /// Frees memory that allocate() returned, or ends a mapping that map_host() began.
  virtual void release(device_address address) noexcept = 0;
  /// Maps `bytes` bytes of host memory at `memory` for kernels, until release() is called with the
  /// returned address, which is congruent to `memory` modulo 512. With `read_only`, writes fail.
  /// @throws usage_error the device is a GPU.
  virtual device_address map_host(void* memory, std::size_t bytes, bool read_only);
  /// Allocates uninitialised memory from the device's memory pool (cuMemAllocFromPoolAsync), for
  /// work that is queued on `stream` after this call; 0 bytes are allowed. If the stream is being
  /// captured, the graph owns the memory.
  virtual device_address allocate(std::size_t bytes, handle stream) = 0;
  /// Queues the release of memory that allocate() with a stream returned.
  virtual void release(device_address address, handle stream) noexcept = 0;
  /// As device::memory_pool.
  [[nodiscard]] virtual memory_pool_state memory_pool() { return {}; }
  /// As device::limit_memory_pool.
  virtual void limit_memory_pool(std::size_t /*bytes*/) {}
  /// As device::trim_memory_pool.
  virtual void trim_memory_pool(std::size_t /*keep*/) {}
  /// Copies to the device. The copy is complete when the call returns: work that is queued later on
  /// any stream sees the bytes.
  virtual void copy_in(device_address destination, bytes_view source) = 0;
  /// Asynchronous: queues the copy on `stream`.
  virtual void copy_in(device_address destination, bytes_view source, handle stream) = 0;
  /// Copies to the host. The copy is complete when the call returns.
  virtual void copy_out(std::span<std::byte> destination, device_address source) = 0;
  /// Asynchronous: queues the copy on `stream`.
  virtual void copy_out(std::span<std::byte> destination, device_address source, handle stream) = 0;
  /// Queues a copy within the device on `stream`.
  virtual void copy_on_device(device_address destination, device_address source, std::size_t bytes,
                              handle stream) = 0;
  /// Sets every byte to `value`. The operation is complete when the call returns, as for copy_in.
  virtual void fill(device_address destination, std::byte value, std::size_t bytes) = 0;
  /// Asynchronous: queues the operation on `stream`.
  virtual void fill(device_address destination, std::byte value, std::size_t bytes,
                    handle stream) = 0;

  /// @throws device_error (code invalid-image) `image` is not of a kind that the device loads.
  virtual handle load(linked_image const& image) = 0;
  /// Unloads a module; the handles of its kernels become invalid.
  virtual void unload(handle module) noexcept = 0;
  /// The kernel's handle is valid until its module is unloaded. The kernel's code is on the device
  /// when this returns, even if the driver loads lazily (CUDA_MODULE_LOADING=LAZY).
  /// @throws file_error (stage device) the image has no such kernel.
  virtual handle find_kernel(handle module, std::string const& name) = 0;
  /// @throws file_error (stage device) the image has no such variable.
  virtual device_variable find_variable(handle module, std::string const& name) = 0;
  /// As loaded_module::native_handle.
  [[nodiscard]] virtual void* native_library(handle module) const noexcept = 0;

  /// Sizes of the kernel's parameters, in order; valid while the module is loaded.
  [[nodiscard]] virtual std::span<std::size_t const> parameter_sizes(
      handle kernel) const noexcept = 0;
  /// As untyped_kernel::native_handle.
  [[nodiscard]] virtual void* native_function(handle kernel) const noexcept = 0;
  /// As untyped_kernel::native_kernel.
  [[nodiscard]] virtual void* native_kernel(handle kernel) const noexcept = 0;
  /// As untyped_kernel::attributes.
  [[nodiscard]] virtual kernel_attributes attributes(handle kernel) = 0;
  /// As untyped_kernel::active_blocks_per_multiprocessor.
  [[nodiscard]] virtual unsigned active_blocks(handle kernel, unsigned block_threads,
                                               std::size_t shared_bytes) = 0;
  /// As untyped_kernel::suggest_block_size.
  [[nodiscard]] virtual block_size_suggestion suggest_block(handle kernel,
                                                            std::size_t shared_bytes) = 0;
  /// Queues a launch. `arguments[i]` points to the value of the i-th parameter; there is one for
  /// each parameter.
  virtual void launch(handle kernel, handle stream, launch_shape const& shape,
                      void* const* arguments) = 0;

  /// Creates a stream that does not wait for the default stream.
  virtual handle create_stream() = 0;
  /// Destroys a stream that create_stream() returned, after its queued work has finished.
  virtual void destroy_stream(handle stream) noexcept = 0;
  /// Waits until all work queued on `stream` has finished.
  virtual void synchronize(handle stream) = 0;
  /// Facts about `stream` at this moment.
  [[nodiscard]] virtual stream_facts describe_stream(handle stream) = 0;
  /// Whether all calls are synchronous: their work is complete when they return.
  [[nodiscard]] virtual bool is_synchronous() const noexcept = 0;
  /// Creates an event, which is not recorded yet.
  virtual handle create_event() = 0;
  /// Creates an event for event_done() only. It records no time, which is cheaper.
  virtual handle create_untimed_event() = 0;
  /// Destroys an event that create_event() or create_untimed_event() returned.
  virtual void destroy_event(handle event) noexcept = 0;
  /// Queues the recording of `event` on `stream`.
  virtual void record(handle event, handle stream) = 0;
  /// Whether the work queued before the last recording of `event` has finished or failed. True if
  /// the event was never recorded. Does not wait.
  [[nodiscard]] virtual bool event_done(handle event) noexcept = 0;
  /// Milliseconds between two recorded events; waits for the later one.
  virtual double elapsed_ms(handle start, handle stop) = 0;

  /// Creates an array of uninitialised texels. texel_count() must have accepted the shape.
  virtual handle create_array(texel_format const& format, array_shape const& shape) = 0;
  /// Destroys an array that create_array() returned.
  virtual void destroy_array(handle array) noexcept = 0;
  /// Copies all texels to the array. The copy is complete when the call returns, as for copy_in.
  virtual void write_array(handle array, bytes_view texels) = 0;
  /// Copies all texels to the host. The copy is complete when the call returns.
  virtual void read_array(handle array, std::span<std::byte> texels) = 0;
  /// Creates a texture of an array; the options must fit it.
  virtual std::uint64_t create_texture(handle array, texture_options const& options) = 0;
  /// Creates a texture of linear memory; the options must fit it.
  virtual std::uint64_t create_texture(linear_texels const& texels,
                                       texture_options const& options) = 0;
  /// Destroys a texture that create_texture() returned.
  virtual void destroy_texture(std::uint64_t texture) noexcept = 0;
  /// Creates a surface of an array, which must allow surfaces.
  virtual std::uint64_t create_surface(handle array) = 0;
  /// Destroys a surface that create_surface() returned.
  virtual void destroy_surface(std::uint64_t surface) noexcept = 0;

  /// The number of PTX instructions executed so far, summed over threads; 0 on a GPU, which does
  /// not count them.
  [[nodiscard]] virtual std::uint64_t instructions() const noexcept { return 0; }
};

/// The device that `object` ("the stream") belongs to.
/// @throws usage_error `object` was moved from and has no device.
device_backend& require_device(std::shared_ptr<device_backend> const& backend, char const* object);

/// @throws usage_error `object` was moved from, or its device is not `expected`. Device objects
///   that were opened for the same GPU count as the same device.
void check_same_device(std::shared_ptr<device_backend> const& expected,
                       std::shared_ptr<device_backend> const& actual, char const* object);

}  // namespace fatlink
