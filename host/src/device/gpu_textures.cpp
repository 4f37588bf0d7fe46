// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_textures.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

CUarray_format driver_format(channel_type type) noexcept
{
  switch (type) {
    case channel_type::u8:
      return CU_AD_FORMAT_UNSIGNED_INT8;
    case channel_type::s8:
      return CU_AD_FORMAT_SIGNED_INT8;
    case channel_type::u16:
      return CU_AD_FORMAT_UNSIGNED_INT16;
    case channel_type::s16:
      return CU_AD_FORMAT_SIGNED_INT16;
    case channel_type::u32:
      return CU_AD_FORMAT_UNSIGNED_INT32;
    case channel_type::s32:
      return CU_AD_FORMAT_SIGNED_INT32;
    case channel_type::f16:
      return CU_AD_FORMAT_HALF;
    case channel_type::f32:
      break;
  }
  return CU_AD_FORMAT_FLOAT;
}

CUaddress_mode driver_mode(address_mode mode) noexcept
{
  switch (mode) {
    case address_mode::wrap:
      return CU_TR_ADDRESS_MODE_WRAP;
    case address_mode::mirror:
      return CU_TR_ADDRESS_MODE_MIRROR;
    case address_mode::border:
      return CU_TR_ADDRESS_MODE_BORDER;
    case address_mode::clamp:
      break;
  }
  return CU_TR_ADDRESS_MODE_CLAMP;
}

bool is_floating(CUarray_format format) noexcept
{
  return format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
}

/// The driver's descriptor of a shape: layers and faces count as depth, and need flags.
CUDA_ARRAY3D_DESCRIPTOR descriptor_of(texel_format const& format, array_shape const& shape) noexcept
{
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = shape.width;
  descriptor.Height = shape.height;
  auto const faces = std::max<std::size_t>(shape.layers, 1) * 6;
  descriptor.Depth = shape.is_cubemap ? faces : std::max(shape.layers, shape.depth);
  descriptor.Format = driver_format(format.type);
  descriptor.NumChannels = format.channels;
  if (shape.layers != 0) descriptor.Flags |= CUDA_ARRAY3D_LAYERED;
  if (shape.is_cubemap) descriptor.Flags |= CUDA_ARRAY3D_CUBEMAP;
  if (shape.allows_surface) descriptor.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
  if (shape.allows_gather) descriptor.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
  return descriptor;
}

CUDA_RESOURCE_DESC resource_of(CUarray array) noexcept
{
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUDA_RESOURCE_DESC resource_of(linear_texels const& texels)
{
  CUDA_RESOURCE_DESC resource{};
  auto const format = driver_format(texels.format.type);
  if (texels.height == 0) {
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {.devPtr = texels.address,
                           .format = format,
                           .numChannels = texels.format.channels,
                           .sizeInBytes = texels.width * texel_bytes(texels.format)};
  } else {
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {.devPtr = texels.address,
                            .format = format,
                            .numChannels = texels.format.channels,
                            .width = texels.width,
                            .height = texels.height,
                            .pitchInBytes = texels.row_bytes};
  }
  return resource;
}

CUDA_TEXTURE_DESC sampler_of(CUarray_format format, texture_options const& options) noexcept
{
  CUDA_TEXTURE_DESC sampler{};
  std::ranges::transform(options.address, std::begin(sampler.addressMode), driver_mode);
  std::ranges::copy(options.border, std::begin(sampler.borderColor));
  sampler.filterMode =
      options.filter == filter_mode::linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  if (options.has_normalized_coordinates) sampler.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (!is_floating(format) && !options.reads_normalized) sampler.flags |= CU_TRSF_READ_AS_INTEGER;
  return sampler;
}

}  // namespace

CUarray gpu_textures::create_array(texel_format const& format, array_shape const& shape) const
{
  auto const descriptor = detail::descriptor_of(format, shape);
  CUarray array = nullptr;
  api_.check(api_.array_create(&array, &descriptor), "creating an array on", gpu_);
  return array;
}

void gpu_textures::write_array(CUarray array, bytes_view texels) const
{
  auto copy = whole_copy(array, texels.size());
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels.data();
  copy.srcPitch = copy.WidthInBytes;
  copy.srcHeight = copy.Height;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  api_.check(api_.copy_array(&copy), "copying to an array on", gpu_);
  api_.check(api_.stream_synchronize(nullptr), "copying to an array on", gpu_);
}

void gpu_textures::read_array(CUarray array, std::span<std::byte> texels) const
{
  auto copy = whole_copy(array, texels.size());
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = texels.data();
  copy.dstPitch = copy.WidthInBytes;
  copy.dstHeight = copy.Height;
  api_.check(api_.copy_array(&copy), "copying from an array on", gpu_);
}

CUDA_MEMCPY3D gpu_textures::whole_copy(CUarray array, std::size_t bytes) const
{
  auto const descriptor = descriptor_of(array);
  CUDA_MEMCPY3D copy{};
  copy.Height = std::max<std::size_t>(descriptor.Height, 1);
  copy.Depth = std::max<std::size_t>(descriptor.Depth, 1);
  copy.WidthInBytes = bytes / copy.Height / copy.Depth;
  return copy;
}

CUDA_ARRAY3D_DESCRIPTOR gpu_textures::descriptor_of(CUarray array) const
{
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  api_.check(api_.array_descriptor(&descriptor, array), "reading an array's shape on", gpu_);
  return descriptor;
}

std::uint64_t gpu_textures::create_texture(CUarray array, texture_options const& options) const
{
  return create_texture(resource_of(array), descriptor_of(array).Format, options);
}

std::uint64_t gpu_textures::create_texture(linear_texels const& texels,
                                           texture_options const& options) const
{
  return create_texture(resource_of(texels), driver_format(texels.format.type), options);
}

std::uint64_t gpu_textures::create_texture(CUDA_RESOURCE_DESC const& resource,
                                           CUarray_format format,
                                           texture_options const& options) const
{
  auto const sampler = sampler_of(format, options);
  CUtexObject texture = 0;
  api_.check(api_.texture_create(&texture, &resource, &sampler, nullptr), "creating a texture on",
             gpu_);
  return texture;
}

std::uint64_t gpu_textures::create_surface(CUarray array) const
{
  auto const resource = resource_of(array);
  CUsurfObject surface = 0;
  api_.check(api_.surface_create(&surface, &resource), "creating a surface on", gpu_);
  return surface;
}

}  // namespace fatlink::detail
