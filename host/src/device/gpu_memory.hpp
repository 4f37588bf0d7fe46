// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU, in the context that is current to the calling thread. A call without a stream is
// complete when it returns, also for kernels on streams that do not wait for the default stream.
// Units: bytes. Threads: safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// fatlink's memory pool of a GPU, one in the process, which is made when it is first used and
/// never destroyed. It keeps what was released over synchronizations, up to a limit, unlike the
/// default pool, whose memory the next call would have to map again (65 us on an H100); the
/// settings of the default pool belong to the process. Threads: safe.
class gpu_pool {
 public:
  static gpu_pool& of_gpu(int ordinal);

  /// @throws device_error the driver makes none.
  CUmemoryPool handle(driver const& api, std::string const& gpu);
  void set_limit(driver const& api, std::string const& gpu, std::size_t bytes);
  memory_pool_state state(driver const& api, std::string const& gpu);
  void trim(driver const& api, std::string const& gpu, std::size_t keep);

 private:
  explicit gpu_pool(int ordinal) : ordinal_(ordinal) {}
  void create(driver const& api, std::string const& gpu);

  int const ordinal_;
  std::mutex mutex_;
  std::atomic<CUmemoryPool> handle_ = nullptr;
};

class gpu_memory {
 public:
  /// `gpu`: its name, for messages.
  gpu_memory(driver const& api, std::string gpu, int ordinal)
      : api_(api), gpu_(std::move(gpu)), pool_(gpu_pool::of_gpu(ordinal))
  {
  }

  /// @throws device_error there is not enough memory.
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes) const;
  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes, CUstream stream) const;
  void release(CUdeviceptr address) const noexcept { (void)api_.mem_free(address); }
  void release(CUdeviceptr address, CUstream stream) const noexcept
  {
    (void)api_.mem_free_async(address, stream);
  }

  [[nodiscard]] memory_pool_state pool_state() const { return pool_.state(api_, gpu_); }
  void set_pool_limit(std::size_t bytes) const { pool_.set_limit(api_, gpu_, bytes); }
  void trim_pool(std::size_t keep) const { pool_.trim(api_, gpu_, keep); }

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
  gpu_pool& pool_;
};

}  // namespace fatlink::detail
