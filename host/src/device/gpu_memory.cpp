// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_memory.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "device/device_checks.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The part of a GPU's memory that its pool keeps by default.
constexpr std::size_t k_kept_part = 32;

std::size_t read_size(driver const& api, std::string const& gpu, CUmemoryPool pool,
                      CUmemPool_attribute which)
{
  cuuint64_t value = 0;
  api.check(api.pool_get_attribute(pool, which, &value), "reading the memory pool of", gpu);
  return static_cast<std::size_t>(value);
}

void set_kept(driver const& api, std::string const& gpu, CUmemoryPool pool, std::size_t bytes)
{
  cuuint64_t value = bytes;
  api.check(api.pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value),
            "limiting the memory pool of", gpu);
}

/// As the driver states them; a type of 0 is not memory of CUDA.
struct pointer_attributes {
  unsigned type = 0;
  unsigned is_managed = 0;
  int ordinal = 0;
};

/// Does not fail for addresses that the driver does not know.
pointer_attributes read_attributes(driver const& api, device_address address)
{
  pointer_attributes attributes;
  std::array names{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  std::array<void*, 3> values{&attributes.type, &attributes.is_managed, &attributes.ordinal};
  auto const code = api.pointer_get_attributes(static_cast<unsigned>(names.size()), names.data(),
                                               values.data(), address);
  if (code == CUDA_ERROR_INVALID_VALUE) return {};
  api.check(code, "locating", detail::format("the address {:#x}", address));
  return attributes;
}

}  // namespace

gpu_pool& gpu_pool::of_gpu(int ordinal)
{
  struct all_pools {
    std::mutex mutex;
    std::map<int, std::unique_ptr<gpu_pool>> of_ordinal;
  };
  static immortal<all_pools> pools;
  auto& [mutex, of_ordinal] = pools.get();
  std::lock_guard const lock(mutex);
  auto& pool = of_ordinal[ordinal];
  if (!pool) pool.reset(new gpu_pool(ordinal));
  return *pool;
}

void gpu_pool::create(driver const& api, std::string const& gpu)
{
  std::size_t total = 0;
  api.check(api.device_total_mem(&total, gpu_handle(api, ordinal_)), "reading the memory of", gpu);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal_};
  relaxed_capture const mode(api);
  CUmemoryPool pool = nullptr;
  api.check(api.pool_create(&pool, &properties), "creating a memory pool on", gpu);
  set_kept(api, gpu, pool, total / k_kept_part);
  handle_ = pool;
}

CUmemoryPool gpu_pool::handle(driver const& api, std::string const& gpu)
{
  if (auto* const pool = handle_.load()) return pool;
  std::lock_guard const lock(mutex_);
  if (handle_ == nullptr) create(api, gpu);
  return handle_;
}

void gpu_pool::set_limit(driver const& api, std::string const& gpu, std::size_t bytes)
{
  auto* const pool = handle(api, gpu);
  set_kept(api, gpu, pool, bytes);
  if (read_size(api, gpu, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > bytes)
    trim(api, gpu, bytes);
}

memory_pool_state gpu_pool::state(driver const& api, std::string const& gpu)
{
  auto* const pool = handle(api, gpu);
  auto const read = [&](CUmemPool_attribute which) { return read_size(api, gpu, pool, which); };
  return {.limit_bytes = read(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD),
          .reserved_bytes = read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
          .used_bytes = read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT)};
}

void gpu_pool::trim(driver const& api, std::string const& gpu, std::size_t keep)
{
  api.check(api.pool_trim(handle(api, gpu), keep), "trimming the memory pool of", gpu);
}

CUdeviceptr gpu_memory::allocate(std::size_t bytes) const
{
  CUdeviceptr address = 0;
  api_.check(api_.mem_alloc(&address, std::max<std::size_t>(bytes, 1)), "allocating",
             detail::format("{} bytes on {}", bytes, gpu_));
  return address;
}

CUdeviceptr gpu_memory::allocate(std::size_t bytes, CUstream stream) const
{
  CUdeviceptr address = 0;
  auto const code = api_.mem_alloc_from_pool(&address, std::max<std::size_t>(bytes, 1),
                                             pool_.handle(api_, gpu_), stream);
  if (code != CUDA_SUCCESS)
    api_.check(code, "allocating", detail::format("{} bytes on {}", bytes, gpu_));
  return address;
}

void gpu_memory::copy_in(CUdeviceptr destination, bytes_view source) const
{
  if (source.empty()) return;
  (void)is_captured(api_, nullptr, "copying to", gpu_);
  api_.check(api_.copy_in(destination, source.data(), source.size()), "copying to", gpu_);
  finish_default_stream("copying to");
}

void gpu_memory::copy_in(CUdeviceptr destination, bytes_view source, CUstream stream) const
{
  if (source.empty()) return;
  require_copyable(source.data(), stream, "copying to");
  api_.check(api_.copy_in_async(destination, source.data(), source.size(), stream), "copying to",
             gpu_);
}

void gpu_memory::copy_out(std::span<std::byte> destination, CUdeviceptr source) const
{
  if (destination.empty()) return;
  (void)is_captured(api_, nullptr, "copying from", gpu_);
  api_.check(api_.copy_out(destination.data(), source, destination.size()), "copying from", gpu_);
}

void gpu_memory::copy_out(std::span<std::byte> destination, CUdeviceptr source,
                          CUstream stream) const
{
  if (destination.empty()) return;
  require_copyable(destination.data(), stream, "copying from");
  api_.check(api_.copy_out_async(destination.data(), source, destination.size(), stream),
             "copying from", gpu_);
}

void gpu_memory::copy_on_device(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                                CUstream stream) const
{
  if (bytes == 0) return;
  api_.check(api_.copy_on_device(destination, source, bytes, stream), "copying on", gpu_);
}

void gpu_memory::fill(CUdeviceptr destination, std::byte value, std::size_t bytes) const
{
  (void)is_captured(api_, nullptr, "filling memory of", gpu_);
  fill(destination, value, bytes, nullptr);
  finish_default_stream("filling memory of");
}

void gpu_memory::fill(CUdeviceptr destination, std::byte value, std::size_t bytes,
                      CUstream stream) const
{
  if (bytes == 0) return;
  api_.check(api_.memset_bytes(destination, static_cast<unsigned char>(value), bytes, stream),
             "filling memory of", gpu_);
}

/// fatlink's streams do not wait for the default stream (CU_STREAM_NON_BLOCKING), on which memsets
/// and the end of copies from pageable memory are asynchronous to the host.
void gpu_memory::finish_default_stream(char const* action) const
{
  api_.check(api_.stream_synchronize(nullptr), action, gpu_);
}

/// A graph would copy from or to pageable memory each time it is launched, even after the memory is
/// freed.
void gpu_memory::require_copyable(void const* host, CUstream stream, char const* action) const
{
  if (!is_captured(api_, stream, action, gpu_)) return;
  if (read_attributes(api_, reinterpret_cast<device_address>(host)).type != 0) return;
  throw device_error(
      stage::device,
      {.message = detail::format("{} {}: the stream is being captured into a CUDA graph, and the "
                                 "host memory is not page-locked",
                                 action, gpu_),
       .input = gpu_,
       .code = vendor_code("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"),
       .hint = "copy before or after the capture, or use page-locked memory (cudaHostAlloc, "
               "cudaHostRegister) that exists as long as the graph"});
}

// Arrays, textures and surfaces.

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
  (void)is_captured(api_, nullptr, "copying to an array on", gpu_);
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
  (void)is_captured(api_, nullptr, "copying from an array on", gpu_);
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

// Addresses.

gpu_address locate(driver const& api, device_address address)
{
  auto const [type, is_managed, ordinal] = read_attributes(api, address);
  auto const is_host = type == CU_MEMORYTYPE_HOST;
  if ((type != CU_MEMORYTYPE_DEVICE && !is_host && is_managed == 0) || ordinal < 0)
    fail_use(detail::format("the address {:#x} is not in memory of CUDA", address), "address",
             "pass an address that CUDA has allocated or registered, and that is not freed");
  if (is_managed != 0) return {.ordinal = ordinal, .kind = gpu_memory_kind::managed};
  return {.ordinal = ordinal, .kind = is_host ? gpu_memory_kind::host : gpu_memory_kind::device};
}

}  // namespace fatlink::detail
