// SPDX-License-Identifier: Apache-2.0
// Arrays, and the texture and surface objects that kernels read and write them by:
//
//   auto image = device->create_array({channel_type::u8, 4}, {.width = 640, .height = 480});
//   image.write(std::as_bytes(std::span(pixels)));
//   auto const texels = device->create_texture(image, {.filter = filter_mode::linear,
//                                                      .reads_normalized = true});
//   kernel.launch(stream, shape, texels.handle(), …);   // the kernel takes a cudaTextureObject_t
//
// Handles are 64-bit values, as cudaTextureObject_t and cudaSurfaceObject_t are. Arrays have one
// mipmap level. The reference device executes the instructions of textures and surfaces
// (docs/reference_device.md states which, and what is bit-equal with a GPU).
//
// Ownership: copies share the object, which is destroyed with the last of them. A texture or
// surface keeps its array or buffer and its device alive. The caller keeps a texture or surface
// until the kernels that use it have finished. The texels of a buffer are those at the time when a
// kernel reads them; a GPU may cache them during a launch that writes them.
// Units: texels, unless stated in bytes. Threads: one object is used by one thread at a time,
// except that kernels of several threads may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fatlink/buffer.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/device_backend.hpp"
#include "fatlink/export.hpp"
#include "fatlink/texture_format.hpp"

namespace FATLINK_API fatlink {

/// Texels of a device in a layout of its own, which kernels reach through textures and surfaces
/// only (a CUDA array). Calls on a moved-from array throw usage_error.
class device_array {
 public:
  /// Uninitialised texels.
  /// @throws usage_error `format` or `shape` is invalid (texel_count), or no backend.
  /// @throws device_error there is not enough memory, or the driver refuses the shape.
  device_array(std::shared_ptr<device_backend> backend, texel_format const& format,
               array_shape const& shape);

  /// Its texels.
  [[nodiscard]] texel_format const& format() const noexcept { return format_; }
  /// Its dimensions.
  [[nodiscard]] array_shape const& shape() const noexcept { return shape_; }
  /// Of all texels, rows without padding; 0 when moved from.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return handle_ ? bytes_ : 0; }
  /// The CUarray; an opaque value on the reference device. Null when moved from.
  [[nodiscard]] void* native_handle() const noexcept { return handle_.get(); }
  /// The device; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// Copies all texels to the array: rows without padding, then slices, or the layers in order and
  /// of each cubemap the faces +x -x +y -y +z -z. Complete when it returns; does not wait for work
  /// queued before.
  /// @throws usage_error `texels` has not size_bytes() bytes. @throws device_error the copy failed.
  void write(bytes_view texels);
  /// Copies all texels to `texels`, in the same order. Complete when it returns; does not wait for
  /// work queued before: synchronize first.
  /// @throws usage_error `texels` has not size_bytes() bytes. @throws device_error the copy failed.
  void read(std::span<std::byte> texels) const;

 private:
  friend class texture;
  friend class surface;
  std::shared_ptr<device_backend> backend_;
  texel_format format_;
  array_shape shape_;
  std::size_t bytes_;
  std::shared_ptr<void> handle_;
};

/// A texture object.
class texture {
 public:
  /// Of an array.
  /// @throws usage_error `options` do not fit the texels, or `array` was moved from.
  /// @throws device_error the driver creates no texture.
  texture(device_array const& array, texture_options const& options);

  /// Of `count` texels in the linear memory of `buffer`, read by index (tex1Dfetch). Reads of other
  /// indices give 0.
  /// @throws usage_error the buffer's size is not a multiple of the texel's or 0, there are more
  ///   than 2^28 texels, or `options` has a linear filter, normalized coordinates or the address
  ///   mode border.
  /// @throws device_error the driver creates no texture.
  template <typename T>
  texture(device_buffer<T> const& buffer, texel_format const& format,
          texture_options const& options)
      : texture(buffer.backend(), memory_of(buffer), format, options)
  {
  }

  /// Of 2-D texels in the linear memory of `buffer`.
  /// @throws usage_error the rows are not aligned or not in the buffer, or `options` do not fit.
  /// @throws device_error the driver creates no texture.
  template <typename T>
  texture(device_buffer<T> const& buffer, texel_format const& format, pitched_shape const& shape,
          texture_options const& options)
      : texture(buffer.backend(), memory_of(buffer), format, shape, options)
  {
  }

  /// What a kernel takes as cudaTextureObject_t; 0 when moved from.
  [[nodiscard]] std::uint64_t handle() const noexcept { return handle_ ? *handle_ : 0; }

 private:
  /// Memory that `owner` keeps allocated.
  struct linear_memory {
    device_address address;
    std::size_t bytes;
    std::shared_ptr<void> owner;
  };
  template <typename T>
  static linear_memory memory_of(device_buffer<T> const& buffer)
  {
    return {buffer.address(), buffer.size_bytes(), std::make_shared<device_buffer<T>>(buffer)};
  }
  texture(std::shared_ptr<device_backend> const& backend, linear_memory memory,
          texel_format const& format, texture_options const& options);
  texture(std::shared_ptr<device_backend> const& backend, linear_memory memory,
          texel_format const& format, pitched_shape const& shape, texture_options const& options);

  std::shared_ptr<std::uint64_t const> handle_;
};

/// A surface object, by which kernels read and write the texels of an array.
class surface {
 public:
  /// @throws usage_error the array was made without array_shape::allows_surface, or was moved from.
  /// @throws device_error the driver creates no surface.
  explicit surface(device_array const& array);

  /// What a kernel takes as cudaSurfaceObject_t; 0 when moved from.
  [[nodiscard]] std::uint64_t handle() const noexcept { return handle_ ? *handle_ : 0; }

 private:
  std::shared_ptr<std::uint64_t const> handle_;
};

}  // namespace fatlink
