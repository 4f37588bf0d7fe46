// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_address.hpp"

#include <array>

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

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
