// SPDX-License-Identifier: Apache-2.0
#include "fatlink/texture.hpp"

#include "device/misuse.hpp"
#include "device/own_handle.hpp"
#include "device/texture_checks.hpp"
#include "util/text/format.hpp"

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
