// SPDX-License-Identifier: Apache-2.0
// Devices that run linked images. There are two kinds of device with the same interface: GPUs, and
// the reference device. A GPU is used through the CUDA Driver API; libcuda.so.1 is opened when it
// is first needed, and fatlink does not link to it. The reference device executes PTX on the CPU
// and checks every memory access, to verify correctness without a GPU.
//
// Use with other CUDA code: fatlink uses the primary context of a GPU, as the CUDA runtime does.
// Memory (cudaMalloc), streams (cudaStreamCreate, see stream_view), events and kernels
// (untyped_kernel::native_handle and native_kernel) can therefore be exchanged with it. The first
// device object of a GPU retains the primary context; fatlink never destroys, resets or releases
// it. Do not call cudaDeviceReset or cuDevicePrimaryCtxReset while fatlink objects for that GPU
// exist.
//
// A call makes the primary context of its GPU current while it runs, and then restores the calling
// thread's context. There is one exception: if the thread had no current context and the call was
// for GPU 0, that GPU's primary context stays current. The CUDA runtime and frameworks use GPU 0 in
// such a thread anyway.
//
// Units: bytes, milliseconds. Ownership: buffers, modules, kernels, streams, events, arrays,
// textures and surfaces keep their device alive; at process exit, no driver object is destroyed.
// Threads: several threads may use a device at once; only one thread at a time may use a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatlink/buffer.hpp"
#include "fatlink/device_backend.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/kernel.hpp"
#include "fatlink/launch_shape.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/loaded_module.hpp"
#include "fatlink/stream.hpp"
#include "fatlink/texture.hpp"

namespace FATLINK_API fatlink {

/// What kernels may do with mapped host memory.
enum class host_access { read_write, read_only };

/// An open device. Calls on a moved-from device throw usage_error.
class device {
 public:
  /// @throws usage_error `backend` is null.
  explicit device(std::shared_ptr<device_backend> backend) : backend_(std::move(backend))
  {
    (void)require_device(backend_, "the device");
  }

  /// Facts about this device. The reference is valid while any object of this device exists.
  [[nodiscard]] device_info const& info() const
  {
    return require_device(backend_, "the device").info();
  }

  /// The link options for this device in `mode`: its target, and the kind of image that it loads.
  [[nodiscard]] fatlink::link_options link_options(link_mode mode = link_mode::lto) const;

  /// Loads an image that was linked with link_options().
  /// @throws device_error the driver refuses the image, the host is out of memory, or this device
  ///   does not load this kind of image (code invalid-image).
  /// @throws link_error (reference device) there are unresolved or duplicate symbols, or types
  ///   differ.
  /// @throws file_error (reference device) the text is not PTX.
  /// @throws unavailable_error (reference device) the PTX exceeds a limit. Unsupported instructions
  ///   are reported only when a kernel is looked up (loaded_module::kernel).
  [[nodiscard]] loaded_module load(linked_image const& image) const { return {backend_, image}; }

  /// The backend of the device and of all its objects; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// A new stream. @throws device_error the driver cannot create it.
  [[nodiscard]] stream create_stream() const { return stream(backend_); }
  /// A new event. @throws device_error the driver cannot create it.
  [[nodiscard]] event create_event() const { return event(backend_); }

  /// Memory for `count` objects of T, uninitialised. Throws as device_buffer's constructor.
  template <typename T>
  [[nodiscard]] device_buffer<T> allocate(std::size_t count) const
  {
    return {backend_, count};
  }

  /// The memory pool for scratch arrays that the callers of plans do not provide. The process has
  /// one pool for each GPU. The reference device has no pool; all values are 0.
  [[nodiscard]] memory_pool_state memory_pool() const
  {
    return require_device(backend_, "the device").memory_pool();
  }
  /// Limits the memory that the pool keeps; the default is 1/32 of the GPU's memory. Unused memory
  /// above the limit is returned to the GPU now, and whenever a stream is synchronized. With 0, the
  /// next call after a synchronization takes about 65 us longer (H100).
  void limit_memory_pool(std::size_t bytes) const
  {
    require_device(backend_, "the device").limit_memory_pool(bytes);
  }
  /// Returns unused memory to the GPU until `keep` bytes are left. Does not wait for calls in
  /// progress; synchronize first to return the memory of finished calls.
  void trim_memory_pool(std::size_t keep = 0) const
  {
    require_device(backend_, "the device").trim_memory_pool(keep);
  }

  /// Maps `count` host objects at `memory`, so that kernels on the reference device access them
  /// without a copy. The caller must keep them valid until the last copy of the buffer is
  /// destroyed, and must not access them during a launch. The buffer's address is congruent to
  /// `memory` modulo 512. Each mapping has its own addresses, so overlapping mappings are not
  /// detected.
  /// @throws usage_error this device is a GPU, or was moved from; `memory` is null and `count` is
  ///   not 0; or the size in bytes overflows.
  template <typename T>
  [[nodiscard]] device_buffer<T> map_host_memory(T* memory, std::size_t count,
                                                 host_access access = host_access::read_write) const
  {
    return {backend_, count, map_bytes(memory, buffer_bytes(count, sizeof(T)), access)};
  }

  /// An array of uninitialised texels. Throws as device_array's constructor.
  [[nodiscard]] device_array create_array(texel_format const& format,
                                          array_shape const& shape) const
  {
    return {backend_, format, shape};
  }
  /// A texture of an array. Throws as texture's constructor; usage_error: the array belongs to
  /// another device.
  [[nodiscard]] texture create_texture(device_array const& array,
                                       texture_options const& options = {}) const
  {
    check_same_device(backend_, array.backend(), "the array");
    return {array, options};
  }
  /// A texture of all texels in `buffer`, read by index. Throws as texture's constructor;
  /// usage_error: the buffer belongs to another device.
  template <typename T>
  [[nodiscard]] texture create_texture(device_buffer<T> const& buffer, texel_format const& format,
                                       texture_options const& options = {}) const
  {
    check_same_device(backend_, buffer.backend(), "the buffer");
    return {buffer, format, options};
  }
  /// A texture of 2-D texels in `buffer`. Throws as texture's constructor; usage_error: the buffer
  /// belongs to another device.
  template <typename T>
  [[nodiscard]] texture create_texture(device_buffer<T> const& buffer, texel_format const& format,
                                       pitched_shape const& shape,
                                       texture_options const& options) const
  {
    check_same_device(backend_, buffer.backend(), "the buffer");
    return {buffer, format, shape, options};
  }
  /// A surface of an array. Throws as surface's constructor; usage_error: the array belongs to
  /// another device.
  [[nodiscard]] surface create_surface(device_array const& array) const
  {
    check_same_device(backend_, array.backend(), "the array");
    return surface(array);
  }

  /// Waits until all work queued on `stream`, which may be borrowed, has finished.
  /// @throws device_error the work failed. @throws usage_error the stream belongs to another
  ///   device.
  void synchronize(stream_view stream) const
  {
    auto& backend = require_device(backend_, "the device");
    backend.synchronize(stream.handle_on(backend));
  }

  /// Queues a copy of the first `count` elements of `source` to `destination`.
  /// @throws usage_error a buffer has fewer elements, or a buffer or `stream` belongs to another
  ///   device.
  template <typename T>
  void copy(device_buffer<T> const& destination, device_buffer<T> const& source, std::size_t count,
            stream_view stream) const
  {
    auto& backend = require_device(backend_, "the device");
    check_same_device(backend_, source.backend(), "the buffer that is read");
    check_same_device(backend_, destination.backend(), "the buffer that is written");
    check_buffer_access("reading", 0, count, source.size());
    check_buffer_access("writing", 0, count, destination.size());
    backend.copy_on_device(destination.address(), source.address(), count * sizeof(T),
                           stream.handle_on(backend));
  }

  /// The number of PTX instructions executed so far, summed over threads; 0 on a GPU.
  [[nodiscard]] std::uint64_t instructions() const noexcept
  {
    return backend_ ? backend_->instructions() : 0;
  }

 private:
  [[nodiscard]] std::shared_ptr<device_address> map_bytes(void* memory, std::size_t bytes,
                                                          host_access access) const;

  std::shared_ptr<device_backend> backend_;
};

/// Options of the reference device.
struct cpu_options {
  /// The number of instructions that a warp may execute in one launch; then the launch fails
  /// (endless-kernel). 0: no limit.
  std::uint64_t instruction_budget = std::uint64_t{1} << 30;
  /// Whether data races are errors: unsynchronised accesses of two threads to one byte, at least
  /// one of them a write.
  bool check_races = false;
  /// Whether reading shared memory that nothing in the block's cluster has written is an error.
  bool check_uninitialized = false;
  /// Whether a single host thread runs the blocks in the order of their indices, so that atomics on
  /// floats give the same bits in each run. If a block waits for another block, the other block
  /// runs first.
  bool deterministic = false;
};

/// Opens a device by name: "gpu" (the first GPU), "gpu:1", "1" or "cpu" (the reference device). The
/// target of the reference device is sm_90 by default; "cpu:sm_80" selects another target. If the
/// device cannot be opened, no other device is opened instead.
/// @throws usage_error `name` has none of these forms, or the target is unknown.
/// @throws unavailable_error there is no driver, or no such GPU (the message says how many there
///   are).
std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options = {});
/// As above. @throws usage_error `name` is null.
std::shared_ptr<device> open_device(char const* name, cpu_options const& options = {});

/// Links `inputs` for `destination` and loads the image: destination.link_options(mode),
/// linker.link and destination.load in one call.
/// Throws as linker::link and device::load.
[[nodiscard]] loaded_module link_and_load(device const& destination, linker& linker,
                                          std::vector<input> const& inputs,
                                          link_mode mode = link_mode::lto);

/// Every GPU that the driver reports. If there is none, returns an empty list and sets `reason`.
std::vector<device_info> list_gpus(std::string& reason);

/// The driver's CUDA version: 13000 for 13.0. If there is no driver, returns 0 and sets `reason`.
int driver_version(std::string& reason);

}  // namespace fatlink
