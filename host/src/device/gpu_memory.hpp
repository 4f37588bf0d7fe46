// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU, in the context that is current to the calling thread. A call without a stream is
// complete when it returns, also for kernels on streams that do not wait for the default stream.
// Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

class gpu_memory {
 public:
  /// `gpu`: its name, for messages.
  gpu_memory(driver const& api, std::string gpu) : api_(api), gpu_(std::move(gpu)) {}

  /// @throws device_error there is not enough memory.
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes) const;
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes, CUstream stream) const;
  void release(CUdeviceptr address) const noexcept { (void)api_.mem_free(address); }
  void release(CUdeviceptr address, CUstream stream) const noexcept
  {
    (void)api_.mem_free_async(address, stream);
  }

  void copy_in(CUdeviceptr destination, bytes_view source) const;
  void copy_in(CUdeviceptr destination, bytes_view source, CUstream stream) const;
  void copy_out(std::span<std::byte> destination, CUdeviceptr source) const;
  void copy_out(std::span<std::byte> destination, CUdeviceptr source, CUstream stream) const;
  void copy_on_device(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                      CUstream stream) const;
  void fill(CUdeviceptr destination, std::byte value, std::size_t bytes) const;
  void fill(CUdeviceptr destination, std::byte value, std::size_t bytes, CUstream stream) const;

 private:
  void finish_default_stream(char const* action) const;

  driver const& api_;
  std::string gpu_;
};

}  // namespace fatlink::detail
