// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces of the reference device. Texels of arrays are in its memory, rows
// without padding. Units: bytes, texels. Threads: safe, except that an array is written by one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fatlink/device_backend.hpp"
#include "interpreter/execution/memory.hpp"

namespace fatlink::detail {

/// An array in `texels`, an allocation of its own.
struct reference_array {
  interpreter::region texels = {};
  interpreter::image_layout layout = {};
};

class reference_textures {
 public:
  explicit reference_textures(std::shared_ptr<interpreter::memory> memory)
      : memory_(std::move(memory))
  {
  }

  /// @throws device_error the host has not enough memory.
  [[nodiscard]] std::unique_ptr<reference_array> create_array(texel_format const& format,
                                                              array_shape const& shape);
  void destroy_array(std::unique_ptr<reference_array> array) noexcept;
  /// `texels` has the bytes of all texels.
  static void write_array(reference_array const& array, bytes_view texels);
  static void read_array(reference_array const& array, std::span<std::byte> texels);

  std::uint64_t create_texture(reference_array const& array, texture_options const& options);
  std::uint64_t create_texture(linear_texels const& texels, texture_options const& options);
  std::uint64_t create_surface(reference_array const& array);
  /// Destroys a texture or surface.
  void destroy_object(std::uint64_t object) noexcept { memory_->textures().remove(object); }

 private:
  std::shared_ptr<interpreter::memory> memory_;
};

}  // namespace fatlink::detail
