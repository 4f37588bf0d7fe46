// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces of a GPU, in the context that is current to the calling thread.
// Handles of arrays are CUarrays. Units: bytes, texels. Threads: safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
