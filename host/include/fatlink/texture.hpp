// SPDX-License-Identifier: Apache-2.0
// CUDA arrays, and the textures and surfaces through which kernels access them.
//
//   auto image = device->create_array({channel_type::u8, 4}, {.width = 640, .height = 480});
//   image.write(std::as_bytes(std::span(pixels)));
//   auto const texels = device->create_texture(image, {.filter = filter_mode::linear,
//                                                      .reads_normalized = true});
//   kernel.launch(stream, shape, texels.handle(), …);   // the kernel takes a cudaTextureObject_t
//
// Handles are 64-bit values, like cudaTextureObject_t and cudaSurfaceObject_t. Arrays have one
// mipmap level. The reference device executes texture and surface instructions
// (docs/reference_device.md lists them, and which results are bit-equal with a GPU).
//
// Ownership: copies share one object, which is destroyed with the last copy. A texture or surface
// keeps its array or buffer and its device alive. The caller must keep a texture or surface until
// the kernels that use it have finished. A texture of a buffer reads the buffer's current contents,
// but a GPU may cache them during a launch that writes to the buffer.
// Units: texels, unless stated in bytes. Threads: one thread at a time may use an object, but
// kernels launched by several threads may use it at once.
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

/// A CUDA array: texels in the device's own layout, which kernels access only through textures and
/// surfaces. Calls on a moved-from array throw usage_error.
class device_array {
 public:
  /// Creates an array of uninitialised texels.
  /// @throws usage_error `format` or `shape` is invalid (texel_count), or `backend` is null.
  /// @throws device_error there is not enough memory, or the driver refuses the shape.
  device_array(std::shared_ptr<device_backend> backend, texel_format const& format,
               array_shape const& shape);

  /// The format of its texels.
  [[nodiscard]] texel_format const& format() const noexcept { return format_; }
  /// Its dimensions.
  [[nodiscard]] array_shape const& shape() const noexcept { return shape_; }
  /// The size of all texels in bytes, without padding of rows; 0 when moved from.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return handle_ ? bytes_ : 0; }
  /// The CUarray; on the reference device an opaque value. Null when moved from.
  [[nodiscard]] void* native_handle() const noexcept { return handle_.get(); }
  /// The device; null when moved from.
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// Copies all texels to the array. `texels` holds rows without padding, in the order of slices or
  /// layers; each cubemap has its faces in the order +x -x +y -y +z -z. The copy is complete when
  /// the call returns. Does not wait for work queued before.
  /// @throws usage_error `texels` does not have size_bytes() bytes. @throws device_error the copy
  ///   failed.
  void write(bytes_view texels);
  /// Copies all texels to `texels`, in the same order. The copy is complete when the call returns.
  /// Does not wait for work queued before; synchronize first.
  /// @throws usage_error `texels` does not have size_bytes() bytes. @throws device_error the copy
  ///   failed.
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
  /// Creates a texture of an array.
  /// @throws usage_error `options` do not fit the texels, or `array` was moved from.
  /// @throws device_error the driver cannot create the texture.
  texture(device_array const& array, texture_options const& options);

  /// Creates a texture of all texels in the linear memory of `buffer`, read by index (tex1Dfetch).
  /// Reads outside the buffer return 0.
  /// @throws usage_error the buffer is empty, or its size is not a multiple of the texel's; there
  ///   are more than 2^28 texels; or `options` has a linear filter, normalized coordinates or the
  ///   address mode border.
  /// @throws device_error the driver cannot create the texture.
  template <typename T>
  texture(device_buffer<T> const& buffer, texel_format const& format,
          texture_options const& options)
      : texture(buffer.backend(), memory_of(buffer), format, options)
  {
  }

  /// Creates a texture of 2-D texels in the linear memory of `buffer`.
  /// @throws usage_error the rows are not aligned or exceed the buffer, or `options` do not fit.
  /// @throws device_error the driver cannot create the texture.
  template <typename T>
  texture(device_buffer<T> const& buffer, texel_format const& format, pitched_shape const& shape,
          texture_options const& options)
      : texture(buffer.backend(), memory_of(buffer), format, shape, options)
  {
  }

  /// The value to pass to a kernel as cudaTextureObject_t; 0 when moved from.
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

/// A surface object, through which kernels read and write the texels of an array.
class surface {
 public:
  /// @throws usage_error the array was created without array_shape::allows_surface, or was moved
  ///   from.
  /// @throws device_error the driver cannot create the surface.
  explicit surface(device_array const& array);

  /// The value to pass to a kernel as cudaSurfaceObject_t; 0 when moved from.
  [[nodiscard]] std::uint64_t handle() const noexcept { return handle_ ? *handle_ : 0; }

 private:
  std::shared_ptr<std::uint64_t const> handle_;
};

}  // namespace fatlink
