// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_memory.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "device/cuda_driver.hpp"
#include "device/gpu_info.hpp"
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
