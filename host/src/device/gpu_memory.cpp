// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_memory.hpp"

#include <algorithm>

#include "util/text/format.hpp"

namespace fatlink::detail {

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
  api_.check(api_.mem_alloc_async(&address, std::max<std::size_t>(bytes, 1), stream), "allocating",
             detail::format("{} bytes on {}", bytes, gpu_));
  return address;
}

void gpu_memory::copy_in(CUdeviceptr destination, bytes_view source) const
{
  if (source.empty()) return;
  api_.check(api_.copy_in(destination, source.data(), source.size()), "copying to", gpu_);
  finish_default_stream("copying to");
}

void gpu_memory::copy_in(CUdeviceptr destination, bytes_view source, CUstream stream) const
{
  if (source.empty()) return;
  api_.check(api_.copy_in_async(destination, source.data(), source.size(), stream), "copying to",
             gpu_);
}

void gpu_memory::copy_out(std::span<std::byte> destination, CUdeviceptr source) const
{
  if (destination.empty()) return;
  api_.check(api_.copy_out(destination.data(), source, destination.size()), "copying from", gpu_);
}

void gpu_memory::copy_out(std::span<std::byte> destination, CUdeviceptr source,
                          CUstream stream) const
{
  if (destination.empty()) return;
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

}  // namespace fatlink::detail
