// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "device/driver_gate.hpp"
#include "device/dynamic_shared.hpp"
#include "device/gpu_module.hpp"

namespace fatlink::detail {

gpu_kernel::gpu_kernel(driver const& api, device_info const& info, CUfunction function,
                       std::string name)
    : api_(api),
      info_(info),
      function_(function),
      name_(std::move(name)),
      sizes_(read_parameter_sizes())
{
}

std::vector<std::size_t> gpu_kernel::read_parameter_sizes() const
{
  std::vector<std::size_t> sizes;
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    auto const code = api_.func_get_param_info(function_, sizes.size(), &offset, &size);
    if (code == CUDA_ERROR_INVALID_VALUE) return sizes;  // the index after the last parameter
    api_.check(code, "reading the parameters of kernel", name_);
    sizes.push_back(size);
  }
}

std::size_t gpu_kernel::attribute(CUfunction_attribute name) const
{
  int value = 0;
  api_.check(api_.func_get_attribute(&value, name, function_), "reading attributes of kernel",
             name_);
  return static_cast<std::size_t>(std::max(value, 0));
}

std::size_t gpu_kernel::max_dynamic_shared_bytes() const
{
  auto const reserved = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  return info_.max_shared_bytes_per_block - std::min(info_.max_shared_bytes_per_block, reserved);
}

kernel_attributes gpu_kernel::attributes() const
{
  return {.registers = static_cast<unsigned>(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)),
          .static_shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
          .local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
          .constant_bytes = attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
          .max_threads_per_block =
              static_cast<unsigned>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
          .max_dynamic_shared_bytes = max_dynamic_shared_bytes()};
}

unsigned gpu_kernel::active_blocks(unsigned block_threads, std::size_t shared_bytes)
{
  allow_shared(shared_bytes);
  if (block_threads > attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return 0;
  int blocks = 0;
  api_.check(api_.occupancy_active_blocks(&blocks, function_, static_cast<int>(block_threads),
                                          shared_bytes),
             "reading the occupancy of kernel", name_);
  return static_cast<unsigned>(blocks);
}

block_size_suggestion gpu_kernel::suggest_block(std::size_t shared_bytes)
{
  allow_shared(shared_bytes);
  int grid_blocks = 0;
  int block_threads = 0;
  api_.check(
      api_.occupancy_block_size(&grid_blocks, &block_threads, function_, nullptr, shared_bytes, 0),
      "reading the occupancy of kernel", name_);
  return {.block_threads = static_cast<unsigned>(block_threads),
          .grid_blocks = static_cast<unsigned>(grid_blocks)};
}

CUresult gpu_kernel::launch(CUstream stream, launch_shape const& shape,
                            void* const* arguments) const
{
  constexpr unsigned k_first_overlapping = 90;  // compute capability 9.0
  // The driver takes the array without const and only reads it.
  auto** const values = const_cast<void**>(arguments);
  auto const& [grid, block, shared_bytes, overlap] = shape;
  if (!overlap || info_.target.number() < k_first_overlapping)
    return api_.launch_kernel(function_, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                              shared_bytes, stream, values, nullptr);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = shared_bytes;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return api_.launch_kernel_with(&config, function_, values, nullptr);
}

void gpu_kernel::raise_allowed_shared(std::size_t bytes)
{
  std::lock_guard const lock(mutex_);
  check_dynamic_shared(name_, bytes, max_dynamic_shared_bytes(),
                       vendor_code("CUDA_ERROR_INVALID_VALUE"));
  driver_gate::exclusive_call const turn;
  auto allowed = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  if (bytes > allowed) {
    api_.check(api_.func_set_attribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(bytes)),
               "raising the dynamic shared memory of kernel", name_);
    allowed = bytes;
  }
  allowed_shared_ = allowed;
}

}  // namespace fatlink::detail
