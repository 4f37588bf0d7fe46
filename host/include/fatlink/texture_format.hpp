// SPDX-License-Identifier: Apache-2.0
// Formats and options of arrays and textures: texels, shapes, and how kernels read coordinates. The
// terms and rules are those of the CUDA programming guide ("Texture and Surface Memory") and the
// Driver API (cuArray3DCreate, cuTexObjectCreate).
// Units: texels, unless stated in bytes. Threads: value types; objects share no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The type of one channel of a texel: an unsigned or signed integer or an IEEE 754 number, with
/// its number of bits.
enum class channel_type { u8, s8, u16, s16, u32, s32, f16, f32 };
/// "u8", "s8", …; "unknown" for a value outside the enumeration.
char const* to_string(channel_type type) noexcept;

/// A texel: 1, 2 or 4 channels of one type, the first at the lowest address.
struct texel_format {
  channel_type type = channel_type::f32;  ///< of each channel
  unsigned channels = 1;                  ///< 1, 2 or 4

  /// Whether type and channels are the same.
  friend bool operator==(texel_format const&, texel_format const&) = default;
};

/// The size of a texel in bytes, 1 to 16.
/// @throws usage_error the number of channels is not 1, 2 or 4, or the type is outside the
///   enumeration.
std::size_t texel_bytes(texel_format const& format);

/// The dimensions of an array. A 1-D array has only a width; a 2-D array has no depth. A layer is a
/// 1-D array, a 2-D array or a cubemap; a layered array has no depth.
struct array_shape {
  std::size_t width = 0;        ///< at least 1
  std::size_t height = 0;       ///< 0: the array is 1-D
  std::size_t depth = 0;        ///< 0: the array is not 3-D
  std::size_t layers = 0;       ///< 0: the array is not layered
  bool is_cubemap = false;      ///< each layer has six faces, whose width and height are equal
  bool allows_surface = false;  ///< surfaces can be created (CUDA_ARRAY3D_SURFACE_LDST)
  /// Kernels can gather (tld4, tex2Dgather) from its textures (CUDA_ARRAY3D_TEXTURE_GATHER). On a
  /// GPU this is possible only for 2-D arrays without layers, of up to 32768 · 32768 texels.
  bool allows_gather = false;

  /// Whether all dimensions and kinds of access are the same.
  friend bool operator==(array_shape const&, array_shape const&) = default;
};

/// The number of texels of all slices, layers and faces.
/// @throws usage_error the dimensions contradict each other (see array_shape), or exceed CUDA's
///   limits.
std::size_t texel_count(array_shape const& shape);

/// What a read outside the texture returns: the texture repeated, its edge, its mirror image, or
/// the border color.
enum class address_mode { wrap, clamp, mirror, border };
/// Whether a texture returns the nearest texel, or interpolates between neighbors.
enum class filter_mode { point, linear };

/// How a kernel reads a texture.
struct texture_options {
  /// The address mode for each axis. Without normalized coordinates, `wrap` and `mirror` act as
  /// `clamp`, as in CUDA.
  std::array<address_mode, 3> address = {address_mode::clamp, address_mode::clamp,
                                         address_mode::clamp};
  /// The filter mode. `linear` needs results that are floats: a floating-point format or
  /// reads_normalized.
  filter_mode filter = filter_mode::point;
  /// Whether coordinates from 0 to 1 span each axis, instead of coordinates from 0 to the number of
  /// texels.
  bool has_normalized_coordinates = false;
  /// Whether integers of 8 and 16 bits are read as floats from 0 or -1 to 1
  /// (cudaReadModeNormalizedFloat). No effect on floats; refused for integers of 32 bits.
  bool reads_normalized = false;
  /// The border color for `border`, one value per channel. Textures that return integers have
  /// border 0.
  std::array<float, 4> border = {};
};

/// The shape of 2-D texels in linear memory.
struct pitched_shape {
  std::size_t width = 0;   ///< texels of a row, at most 131072
  std::size_t height = 0;  ///< rows, at most 65000
  std::size_t row_bytes =
      0;  ///< distance of rows: a multiple of k_row_alignment, at most 2,097,120
};

/// The value of CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT on GPUs that CUDA 13 supports, in
/// bytes.
constexpr std::size_t k_row_alignment = 32;

}  // namespace fatlink
