// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU: buffers and their pool, arrays, textures and surfaces, in the context that is
// current to the calling thread; and where an address is. A call without a stream is complete when
// it returns, also for kernels on streams that do not wait for the default stream.
// Units: bytes. Threads: safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// fatlink's memory pool of a GPU, one in the process, which is made when it is first used and
/// never destroyed. It keeps what was released over synchronizations, up to a limit, unlike the
/// default pool, whose memory the next call would have to map again (65 us on an H100); the
/// settings of the default pool belong to the process. Threads: safe.
class gpu_pool {
 public:
  static gpu_pool& of_gpu(int ordinal);

  /// @throws device_error the driver makes none.
  CUmemoryPool handle(driver const& api, std::string const& gpu);
  void set_limit(driver const& api, std::string const& gpu, std::size_t bytes);
  memory_pool_state state(driver const& api, std::string const& gpu);
  void trim(driver const& api, std::string const& gpu, std::size_t keep);

 private:
  explicit gpu_pool(int ordinal) : ordinal_(ordinal) {}
  void create(driver const& api, std::string const& gpu);

  int const ordinal_;
  std::mutex mutex_;
  std::atomic<CUmemoryPool> handle_ = nullptr;
};

class gpu_memory {
 public:
  /// `gpu`: its name, for messages.
  gpu_memory(driver const& api, std::string gpu, int ordinal)
      : api_(api), gpu_(std::move(gpu)), pool_(gpu_pool::of_gpu(ordinal))
  {
  }

  /// @throws device_error there is not enough memory.
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes) const;
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes, CUstream stream) const;
  void release(CUdeviceptr address) const noexcept { (void)api_.mem_free(address); }
  void release(CUdeviceptr address, CUstream stream) const noexcept
  {
    (void)api_.mem_free_async(address, stream);
  }

  [[nodiscard]] memory_pool_state pool_state() const { return pool_.state(api_, gpu_); }
  void set_pool_limit(std::size_t bytes) const { pool_.set_limit(api_, gpu_, bytes); }
  void trim_pool(std::size_t keep) const { pool_.trim(api_, gpu_, keep); }

  /// Copies and fills without a stream use the default stream. @throws device_error a capture
  /// makes it unusable (is_captured). Copies from and to the host with a stream: @throws
  /// device_error the stream is being captured, and the memory of the host is not page-locked.
  void copy_in(CUdeviceptr destination, bytes_view source) const;
  void copy_in(CUdeviceptr destination, bytes_view source, CUstream stream) const;
  void copy_out(std::span<std::byte> destination, CUdeviceptr source) const;
  void copy_out(std::span<std::byte> destination, CUdeviceptr source, CUstream stream) const;
  void copy_on_device(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                      CUstream stream) const;
  void fill(CUdeviceptr destination, std::byte value, std::size_t bytes) const;
  void fill(CUdeviceptr destination, std::byte value, std::size_t bytes, CUstream stream) const;

 private:
  void finish_default_stream(char const* action) const;
  void require_copyable(void const* host, CUstream stream, char const* action) const;

  driver const& api_;
  std::string gpu_;
  gpu_pool& pool_;
};

/// Arrays, textures and surfaces. Handles of arrays are CUarrays. Units: bytes, texels.
class gpu_textures {
 public:
  /// `gpu`: its name, for messages.
  gpu_textures(driver const& api, std::string gpu) : api_(api), gpu_(std::move(gpu)) {}

  /// @throws device_error the driver refuses the shape, or there is not enough memory.
  [[nodiscard]] CUarray create_array(texel_format const& format, array_shape const& shape) const;
  void destroy_array(CUarray array) const noexcept { (void)api_.array_destroy(array); }
  /// Has ended when it returns, also for kernels on streams that do not wait for the default
  /// stream.
  /// @throws device_error the driver fails the copy.
  void write_array(CUarray array, bytes_view texels) const;
  /// @throws device_error the driver fails the copy.
  void read_array(CUarray array, std::span<std::byte> texels) const;

  /// @throws device_error the driver refuses the options.
  [[nodiscard]] std::uint64_t create_texture(CUarray array, texture_options const& options) const;
  /// @throws device_error the driver refuses the texels or the options.
  [[nodiscard]] std::uint64_t create_texture(linear_texels const& texels,
                                             texture_options const& options) const;
  void destroy_texture(std::uint64_t texture) const noexcept
  {
    (void)api_.texture_destroy(texture);
  }
  /// @throws device_error the driver refuses the array.
  [[nodiscard]] std::uint64_t create_surface(CUarray array) const;
  void destroy_surface(std::uint64_t surface) const noexcept
  {
    (void)api_.surface_destroy(surface);
  }

 private:
  /// A copy of all texels, `bytes` bytes, whose host side is not yet set.
  [[nodiscard]] CUDA_MEMCPY3D whole_copy(CUarray array, std::size_t bytes) const;
  [[nodiscard]] CUDA_ARRAY3D_DESCRIPTOR descriptor_of(CUarray array) const;
  [[nodiscard]] std::uint64_t create_texture(CUDA_RESOURCE_DESC const& resource,
                                             CUarray_format format,
                                             texture_options const& options) const;

  driver const& api_;
  std::string gpu_;
};

enum class gpu_memory_kind {
  device,   ///< of a GPU
  managed,  ///< moves between the host and GPUs
  host,     ///< page-locked memory of the host, which GPUs can access
};

struct gpu_address {
  int ordinal = 0;  ///< of the GPU on which it was allocated or registered
  gpu_memory_kind kind = gpu_memory_kind::device;
};

/// Finds the GPU and the kind of memory of an address. Needs no current context.
/// @throws usage_error `address` is not in memory of CUDA, or no longer.
/// @throws device_error the driver fails the query.
gpu_address locate(driver const& api, device_address address);

}  // namespace fatlink::detail
