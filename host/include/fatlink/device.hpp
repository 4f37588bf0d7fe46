// SPDX-License-Identifier: Apache-2.0
// Where linked images run. One interface for two kinds of device: a GPU, through the CUDA Driver
// API (libcuda.so.1, opened when first needed, never linked), and the reference device, which
// executes PTX on the CPU and checks every access: for correctness where there is no GPU.
//
// Together with other CUDA code: a GPU is used in its primary context, the one of the CUDA runtime,
// so that memory (cudaMalloc), streams (cudaStreamCreate, see stream_view), events and kernels
// (untyped_kernel::native_handle) can be exchanged. The first device object of a GPU retains the
// primary context; fatlink never destroys, resets or releases it. Do not call cudaDeviceReset or
// cuDevicePrimaryCtxReset while fatlink's objects for that GPU live. The context that is current to
// the calling thread stays current: a call makes the primary context of its GPU current only while
// it runs. In a thread without a current context, the primary context of GPU 0 stays current after
// a call for that GPU: the CUDA runtime and frameworks make GPU 0 their current device there.
//
// Units: bytes, milliseconds. Ownership: buffers, modules, kernels, streams, events, arrays,
// textures and surfaces keep their device alive; nothing of the driver is torn down at process
// exit. Threads: a device may be used by several threads; one stream by one thread at a time.
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

/// What kernels may do with memory of the host that is mapped.
enum class host_access { read_write, read_only };

/// An open device. Calls on a moved-from device throw usage_error.
class device {
 public:
  /// @throws usage_error no backend.
  explicit device(std::shared_ptr<device_backend> backend) : backend_(std::move(backend))
  {
    (void)require_device(backend_, "the device");
  }

  /// Facts about this device; valid as long as any object of the device.
  [[nodiscard]] device_info const& info() const
  {
    return require_device(backend_, "the device").info();
  }

  /// How to link for this device in `mode`: its target, and the kind of image that it loads.
  [[nodiscard]] fatlink::link_options link_options(link_mode mode = link_mode::lto) const;

  /// Loads an image that was linked with link_options().
  /// @throws device_error the driver refuses the image or the host is out of memory; or (code
  ///   invalid-image) the image is of a kind that this device does not load.
  /// @throws link_error (reference device) unresolved or duplicate symbols, or types that differ.
  /// @throws file_error (reference device) text that is not PTX.
  /// @throws unavailable_error (reference device) PTX above a limit. Unsupported instructions are
  ///   reported when a kernel is looked up: see loaded_module::kernel.
  [[nodiscard]] loaded_module load(linked_image const& image) const { return {backend_, image}; }

  /// What its buffers, streams and modules are made of; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// A new stream. @throws device_error the driver creates none.
  [[nodiscard]] stream create_stream() const { return stream(backend_); }
  /// A new event. @throws device_error the driver creates none.
  [[nodiscard]] event create_event() const { return event(backend_); }

  /// Memory for `count` objects of T, uninitialised. Throws as device_buffer's constructor.
  template <typename T>
  [[nodiscard]] device_buffer<T> allocate(std::size_t count) const
  {
    return {backend_, count};
  }

  /// What calls of plans use for scratch arrays that the caller does not give. The process has one
  /// such pool for each GPU; zeros on the reference device, which has none.
  [[nodiscard]] memory_pool_state memory_pool() const
  {
    return require_device(backend_, "the device").memory_pool();
  }
  /// Sets what the pool keeps at most: a 32nd of the GPU's memory at first. Memory above it that no
  /// call uses is given back now, and whenever a stream is synchronized. With 0, the next call
  /// after a synchronization takes about 65 us longer (H100).
  void limit_memory_pool(std::size_t bytes) const
  {
    require_device(backend_, "the device").limit_memory_pool(bytes);
  }
  /// Gives memory that no call uses back to the GPU, until `keep` bytes are left. It does not wait:
  /// synchronize first to give back what finished calls have used.
  void trim_memory_pool(std::size_t keep = 0) const
  {
    require_device(backend_, "the device").trim_memory_pool(keep);
  }

  /// Lets kernels on the reference device work on `count` objects of the host at `memory`, without
  /// a copy. The caller keeps them valid until the last copy of the buffer is gone, and does not
  /// touch them during a launch. The buffer's address is equal to `memory` modulo 512. Each mapping
  /// has addresses of its own: that two of them share bytes is not detected.
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
  /// A texture of an array. Throws as texture's constructor, and usage_error an array of another
  /// device.
  [[nodiscard]] texture create_texture(device_array const& array,
                                       texture_options const& options = {}) const
  {
    check_same_device(backend_, array.backend(), "the array");
    return {array, options};
  }
  /// A texture of all texels in `buffer`, read by index. Throws as texture's constructor, and
  /// usage_error a buffer of another device.
  template <typename T>
  [[nodiscard]] texture create_texture(device_buffer<T> const& buffer, texel_format const& format,
                                       texture_options const& options = {}) const
  {
    check_same_device(backend_, buffer.backend(), "the buffer");
    return {buffer, format, options};
  }
  /// A texture of 2-D texels in `buffer`. Throws as texture's constructor, and usage_error a
  /// buffer of another device.
  template <typename T>
  [[nodiscard]] texture create_texture(device_buffer<T> const& buffer, texel_format const& format,
                                       pitched_shape const& shape,
                                       texture_options const& options) const
  {
    check_same_device(backend_, buffer.backend(), "the buffer");
    return {buffer, format, shape, options};
  }
  /// A surface of an array. Throws as surface's constructor, and usage_error an array of another
  /// device.
  [[nodiscard]] surface create_surface(device_array const& array) const
  {
    check_same_device(backend_, array.backend(), "the array");
    return surface(array);
  }

  /// Waits until all work queued on `stream`, which may be borrowed, has finished.
  /// @throws device_error that work failed. @throws usage_error a stream of another device.
  void synchronize(stream_view stream) const
  {
    auto& backend = require_device(backend_, "the device");
    backend.synchronize(stream.handle_on(backend));
  }

  /// Queues a copy of the first `count` elements of `source` to `destination`.
  /// @throws usage_error one of the buffers has fewer, or it or `stream` belongs to another device.
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

  /// PTX instructions executed so far, counted once for each thread; 0 on a GPU.
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
  /// Instructions that a warp may execute in a launch before the launch fails as endless; 0: no
  /// limit.
  std::uint64_t instruction_budget = std::uint64_t{1} << 30;
  /// Whether accesses of two threads to a byte, not synchronised and one a write, are an error.
  bool check_races = false;
  /// Whether a read of shared memory that nothing in the block's cluster has written is an error.
  bool check_uninitialized = false;
  /// Whether one thread of the host runs the blocks in the order of their indices, so that atomics
  /// on floats give the same bits in each run. A block that waits for another one lets it run.
  bool deterministic = false;
};

/// Opens "gpu" (the first GPU), "gpu:1", "1" or "cpu" (the reference device). The reference device
/// links for sm_90 by default; "cpu:sm_80" selects another target.
/// @throws usage_error another spelling, or an unknown target.
/// @throws unavailable_error no driver, or no such GPU (the message says how many there are). Never
///   opens another device instead.
std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options = {});
/// The same. @throws usage_error `name` is null.
std::shared_ptr<device> open_device(char const* name, cpu_options const& options = {});

/// Links `inputs` for `destination` and loads the image: destination.link_options(mode),
/// linker.link and destination.load in one call.
/// Throws as linker::link and device::load.
[[nodiscard]] loaded_module link_and_load(device const& destination, linker& linker,
                                          std::vector<input> const& inputs,
                                          link_mode mode = link_mode::lto);

/// Every GPU that the driver reports. Empty where there is none, with the reason in `reason`.
std::vector<device_info> list_gpus(std::string& reason);

/// The driver's CUDA version: 13000 for 13.0. 0 where there is no driver, with the reason in
/// `reason`.
int driver_version(std::string& reason);

}  // namespace fatlink
