// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "device/gpu_memory.hpp"

namespace fatlink::c {
namespace {

fatlink_memory_kind kind_of(detail::gpu_memory_kind kind) noexcept
{
  switch (kind) {
    case detail::gpu_memory_kind::managed:
      return FATLINK_MEMORY_MANAGED;
    case detail::gpu_memory_kind::host:
      return FATLINK_MEMORY_HOST;
    case detail::gpu_memory_kind::device:
      break;
  }
  return FATLINK_MEMORY_DEVICE;
}

device_buffer<std::byte>& bytes_of(fatlink_buffer* buffer)
{
  return required(buffer, "buffer").bytes;
}

device_buffer<std::byte> const& bytes_of(fatlink_buffer const* buffer)
{
  return required(buffer, "buffer").bytes;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_address_get_device(uint64_t address, int32_t* ordinal,
                                          fatlink_memory_kind* kind)
{
  return guarded([&] {
    if (kind != nullptr) *kind = 0;
    auto& result = output(ordinal, "ordinal");
    auto const& api = fatlink::detail::driver::open();
    auto const place = fatlink::detail::locate(api, address);
    result = place.ordinal;
    if (kind != nullptr) *kind = kind_of(place.kind);
  });
}

fatlink_error* fatlink_buffer_allocate(fatlink_device* device, size_t bytes,
                                       fatlink_buffer** buffer)
{
  return guarded([&] {
    auto& result = output(buffer, "buffer");
    result = new fatlink_buffer{required(device, "device").device->allocate<std::byte>(bytes)};
  });
}

fatlink_error* fatlink_buffer_map_host(fatlink_device* device, void* memory, size_t bytes,
                                       int32_t read_only, fatlink_buffer** buffer)
{
  return guarded([&] {
    auto& result = output(buffer, "buffer");
    auto const& opened = *required(device, "device").device;
    if (memory == nullptr && bytes != 0) fail_null("memory");
    auto const access =
        read_only != 0 ? fatlink::host_access::read_only : fatlink::host_access::read_write;
    result =
        new fatlink_buffer{opened.map_host_memory(static_cast<std::byte*>(memory), bytes, access)};
  });
}

uint64_t fatlink_buffer_address(fatlink_buffer const* buffer)
{
  return buffer == nullptr ? 0 : buffer->bytes.address();
}

size_t fatlink_buffer_bytes(fatlink_buffer const* buffer)
{
  return buffer == nullptr ? 0 : buffer->bytes.size();
}

void fatlink_buffer_free(fatlink_buffer* buffer)
{
  delete buffer;
}

fatlink_error* fatlink_buffer_write(fatlink_buffer* buffer, size_t offset, void const* source,
                                    size_t bytes, void* stream)
{
  return guarded([&] {
    auto const given = list(static_cast<std::byte const*>(source), bytes, "source");
    bytes_of(buffer).write(given, fatlink::stream_view(stream), offset);
  });
}

fatlink_error* fatlink_buffer_write_now(fatlink_buffer* buffer, size_t offset, void const* source,
                                        size_t bytes)
{
  return guarded([&] {
    auto const given = list(static_cast<std::byte const*>(source), bytes, "source");
    bytes_of(buffer).write(given, offset);
  });
}

fatlink_error* fatlink_buffer_read(fatlink_buffer const* buffer, size_t offset, void* destination,
                                   size_t bytes, void* stream)
{
  return guarded([&] {
    auto const target = list(static_cast<std::byte*>(destination), bytes, "destination");
    bytes_of(buffer).read(target, fatlink::stream_view(stream), offset);
  });
}

fatlink_error* fatlink_buffer_read_now(fatlink_buffer const* buffer, size_t offset,
                                       void* destination, size_t bytes)
{
  return guarded([&] {
    auto const target = list(static_cast<std::byte*>(destination), bytes, "destination");
    bytes_of(buffer).read(target, offset);
  });
}

fatlink_error* fatlink_buffer_fill(fatlink_buffer* buffer, uint8_t value, void* stream)
{
  return guarded([&] { bytes_of(buffer).fill(std::byte{value}, fatlink::stream_view(stream)); });
}
