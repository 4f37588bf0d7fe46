// SPDX-License-Identifier: Apache-2.0
#include "fatlink/texture.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

// What a texture or surface may be, whatever the device. Source of the rules: the CUDA programming
// guide, "Texture and Surface Memory", and cuda.h 13.0 at cuTexObjectCreate. What they leave open
// is refused. Units: texels, bytes where stated.

constexpr device_address k_alignment = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
/// CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH of sm_80, sm_90 and sm_100. Where it is 2^27,
/// the driver refuses more.
constexpr std::size_t k_max_indexed = std::size_t{1} << 28;
constexpr std::size_t k_max_width = 131072;  // the programming guide, "Compute Capabilities"
constexpr std::size_t k_max_height = 65000;  // the same
constexpr std::size_t k_max_row_bytes =
    2'097'120;  // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH

[[noreturn]] void fail_texture(std::string message, std::string hint)
{
  fail_use(std::move(message), "texture", std::move(hint));
}

bool is_floating(channel_type type) noexcept
{
  return type == channel_type::f16 || type == channel_type::f32;
}

bool is_wide_integer(channel_type type) noexcept
{
  return type == channel_type::u32 || type == channel_type::s32;
}

bool uses_border(texture_options const& options) noexcept
{
  return std::ranges::find(options.address, address_mode::border) != options.address.end();
}

void check_enumerators(texture_options const& options)
{
  for (auto const mode : options.address)
    if (mode < address_mode::wrap || mode > address_mode::border)
      fail_texture(detail::format("address mode {} does not exist", static_cast<int>(mode)),
                   "use wrap, clamp, mirror or border");
  if (options.filter != filter_mode::point && options.filter != filter_mode::linear)
    fail_texture(detail::format("filter mode {} does not exist", static_cast<int>(options.filter)),
                 "use point or linear");
}

void check_integers(texel_format const& format, texture_options const& options)
{
  if (options.filter == filter_mode::linear)
    fail_texture(detail::format("texels of {} that are read as integers cannot be interpolated",
                                to_string(format.type)),
                 "use filter_mode::point, channels of f16 or f32, or reads_normalized with 8 or 16 "
                 "bits");
  // The bits of -0.0 are not those of the integer 0.
  auto const has_bits = [](float value) { return std::bit_cast<std::uint32_t>(value) != 0; };
  if (uses_border(options) && std::ranges::any_of(options.border, has_bits))
    fail_texture(detail::format("texels of {} that are read as integers have border 0",
                                to_string(format.type)),
                 "leave texture_options::border 0, or read floats");
}

void check_address(device_address address)
{
  if (address % k_alignment == 0) return;
  fail_texture(detail::format("texels at {:#x} are not aligned to {} bytes", address, k_alignment),
               "allocate a buffer for the texels");
}

/// `options` as a device takes them: without normalized coordinates wrap and mirror are clamp.
/// @throws usage_error they do not fit texels of `format`.
texture_options checked_options(texel_format const& format, texture_options options)
{
  check_enumerators(options);
  if (options.reads_normalized && is_wide_integer(format.type))
    fail_texture(
        detail::format("texels of {} cannot be read as normalized floats", to_string(format.type)),
        "use integers of 8 or 16 bits, or leave reads_normalized unset");
  if (!is_floating(format.type) && !options.reads_normalized) check_integers(format, options);
  if (options.has_normalized_coordinates) return options;
  for (auto& mode : options.address)
    if (mode != address_mode::border) mode = address_mode::clamp;
  return options;
}

/// @throws usage_error as above, or the coordinates do not fit a cubemap.
texture_options checked_options(texel_format const& format, array_shape const& shape,
                                texture_options const& options)
{
  if (shape.is_cubemap && !options.has_normalized_coordinates)
    fail_texture("a cubemap is read by directions, not by numbers of texels",
                 "set texture_options::has_normalized_coordinates");
  return checked_options(format, options);
}

/// Texels in `bytes` bytes of memory, read by index. @throws usage_error they are not aligned, not
/// whole, none or too many.
linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format)
{
  auto const size = texel_bytes(format);
  check_address(address);
  if (bytes == 0 || bytes % size != 0)
    fail_texture(detail::format("a buffer of {} bytes is not a whole number of texels of {} bytes",
                                bytes, size),
                 "allocate one or more whole texels");
  if (bytes / size > k_max_indexed)
    fail_texture(detail::format("{} texels of linear memory are more than the {} that are read by "
                                "index",
                                bytes / size, k_max_indexed),
                 "use several textures, or pass a pitched_shape");
  return {.address = address, .format = format, .width = bytes / size};
}

/// @throws usage_error `options` do not fit texels that are read by index.
void check_indexed(texture_options const& options)
{
  if (options.filter == filter_mode::point && !options.has_normalized_coordinates &&
      !uses_border(options))
    return;
  fail_texture(
      "texels of linear memory are read by index: they have no filter, normalized "
      "coordinates or border",
      "use an array, or pass a pitched_shape");
}

/// @throws usage_error the rows are not aligned, overlap or exceed the memory.
linear_texels checked_texels(device_address address, std::size_t bytes, texel_format const& format,
                             pitched_shape const& shape)
{
  auto const& [width, height, row_bytes] = shape;
  check_address(address);
  auto const size = texel_bytes(format);
  if (width == 0 || width > k_max_width || height == 0 || height > k_max_height)
    fail_texture(detail::format("linear memory cannot have {} rows of {} texels", height, width),
                 detail::format("use 1 to {} rows of 1 to {} texels", k_max_height, k_max_width));
  if (row_bytes % k_row_alignment != 0 || row_bytes > k_max_row_bytes || row_bytes < width * size)
    fail_texture(detail::format("rows of {} texels of {} bytes cannot be {} bytes apart", width,
                                size, row_bytes),
                 detail::format("use a multiple of {} bytes, at least a row and at most {}",
                                k_row_alignment, k_max_row_bytes));
  if (bytes < (height - 1) * row_bytes + width * size)
    fail_texture(detail::format("{} rows that are {} bytes apart exceed a buffer of {} bytes",
                                height, row_bytes, bytes),
                 "allocate a larger buffer");
  return {.address = address,
          .format = format,
          .width = width,
          .height = height,
          .row_bytes = row_bytes};
}

}  // namespace

}  // namespace fatlink::detail

namespace fatlink {
namespace {

using destroyer = void (device_backend::*)(std::uint64_t) noexcept;

/// The place of an object's handle, 0 until it is made. Its last owner destroys the object, and
/// then releases `source`, which the object reads.
std::shared_ptr<std::uint64_t> own_object(std::shared_ptr<device_backend> const& backend,
                                          std::shared_ptr<void> source, destroyer destroy)
{
  return {new std::uint64_t(0),
          [backend, source = std::move(source), destroy](std::uint64_t* object) {
            if (*object != 0) ((*backend).*destroy)(*object);
            delete object;
          }};
}

std::shared_ptr<std::uint64_t const> make_texture(std::shared_ptr<device_backend> const& backend,
                                                  std::shared_ptr<void> source,
                                                  linear_texels const& texels,
                                                  texture_options const& options)
{
  auto object = own_object(backend, std::move(source), &device_backend::destroy_texture);
  *object = backend->create_texture(texels, options);
  return object;
}

void check_size(char const* access, std::size_t actual, std::size_t expected)
{
  if (actual == expected) return;
  detail::fail_use(detail::format("{} {} bytes of an array that has {}", access, actual, expected),
                   "device_array", "pass device_array::size_bytes() bytes");
}

}  // namespace

device_array::device_array(std::shared_ptr<device_backend> backend, texel_format const& format,
                           array_shape const& shape)
    : backend_(std::move(backend)),
      format_(format),
      shape_(shape),
      bytes_(texel_bytes(format) * texel_count(shape)),
      handle_(detail::own_handle(backend_,
                                 require_device(backend_, "the array").create_array(format, shape),
                                 &device_backend::destroy_array))
{
}

void device_array::write(bytes_view texels)
{
  auto& device = require_device(backend_, "the array");
  check_size("writing", texels.size(), bytes_);
  device.write_array(handle_.get(), texels);
}

void device_array::read(std::span<std::byte> texels) const
{
  auto& device = require_device(backend_, "the array");
  check_size("reading", texels.size(), bytes_);
  device.read_array(handle_.get(), texels);
}

texture::texture(device_array const& array, texture_options const& options)
{
  auto& device = require_device(array.backend_, "the array");
  auto const valid = detail::checked_options(array.format_, array.shape_, options);
  auto object = own_object(array.backend_, array.handle_, &device_backend::destroy_texture);
  *object = device.create_texture(array.handle_.get(), valid);
  handle_ = std::move(object);
}

texture::texture(std::shared_ptr<device_backend> const& backend, linear_memory memory,
                 texel_format const& format, texture_options const& options)
{
  (void)require_device(backend, "the buffer");
  detail::check_indexed(options);
  auto const valid = detail::checked_options(format, options);
  auto const texels = detail::checked_texels(memory.address, memory.bytes, format);
  handle_ = make_texture(backend, std::move(memory.owner), texels, valid);
}

texture::texture(std::shared_ptr<device_backend> const& backend, linear_memory memory,
                 texel_format const& format, pitched_shape const& shape,
                 texture_options const& options)
{
  (void)require_device(backend, "the buffer");
  auto const valid = detail::checked_options(format, options);
  auto const texels = detail::checked_texels(memory.address, memory.bytes, format, shape);
  handle_ = make_texture(backend, std::move(memory.owner), texels, valid);
}

surface::surface(device_array const& array)
{
  auto& device = require_device(array.backend_, "the array");
  if (!array.shape_.allows_surface)
    detail::fail_use("the array was made without access by surfaces", "device_array",
                     "set array_shape::allows_surface when it is made");
  auto object = own_object(array.backend_, array.handle_, &device_backend::destroy_surface);
  *object = device.create_surface(array.handle_.get());
  handle_ = std::move(object);
}

}  // namespace fatlink
