// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_info.hpp"

#include <array>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

int attribute(driver const& api, CUdevice gpu, CUdevice_attribute name)
{
  int value = 0;
  api.check(api.device_get_attribute(&value, name, gpu), "reading a GPU's attribute");
  return value;
}

target target_of(driver const& api, CUdevice gpu)
{
  auto const major = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  auto const minor = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return target(static_cast<unsigned>(major * 10 + minor));
}

}  // namespace

CUdevice gpu_handle(driver const& api, int ordinal)
{
  CUdevice gpu = 0;
  api.check(api.device_get(&gpu, ordinal), "opening", detail::format("gpu:{}", ordinal));
  return gpu;
}

device_info gpu_info(driver const& api, int ordinal)
{
  auto const gpu = gpu_handle(api, ordinal);
  std::array<char, 256> name{};
  api.check(api.device_get_name(name.data(), static_cast<int>(name.size()), gpu),
            "reading a GPU's name");
  std::size_t memory = 0;
  api.check(api.device_total_mem(&memory, gpu), "reading a GPU's memory size");
  return {.kind = device_kind::gpu,
          .ordinal = ordinal,
          .name = name.data(),
          .target = target_of(api, gpu),
          .memory_bytes = memory,
          .multiprocessors =
              static_cast<unsigned>(attribute(api, gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
          .max_shared_bytes_per_block = static_cast<std::size_t>(
              attribute(api, gpu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))};
}

std::vector<device_info> gpu_infos()
{
  auto const& api = driver::open();
  int count = 0;
  api.check(api.device_get_count(&count), "counting GPUs");
  std::vector<device_info> infos;
  for (int i = 0; i < count; ++i) infos.push_back(gpu_info(api, i));
  return infos;
}

}  // namespace fatlink::detail
