// SPDX-License-Identifier: Apache-2.0
// What the driver states of an address, with a driver that states what the test says.
#include "device/gpu_memory.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"

using namespace fatlink;
using detail::gpu_memory_kind;

namespace {

struct driver_reply {
  CUresult code = CUDA_SUCCESS;
  unsigned type = 0;
  unsigned is_managed = 0;
  int ordinal = 0;
};
driver_reply reply_to_query;

CUresult query_attributes(unsigned count, CUpointer_attribute* names, void** values,
                          CUdeviceptr /*address*/)
{
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      *static_cast<unsigned*>(values[i]) = reply_to_query.type;
    if (names[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
      *static_cast<unsigned*>(values[i]) = reply_to_query.is_managed;
    if (names[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *static_cast<int*>(values[i]) = reply_to_query.ordinal;
  }
  return reply_to_query.code;
}

CUresult describe_code(CUresult /*code*/, char const** text)
{
  *text = "the reason";
  return CUDA_SUCCESS;
}

detail::gpu_address locate(driver_reply const& reply)
{
  reply_to_query = reply;
  detail::driver api{};
  api.pointer_get_attributes = query_attributes;
  api.get_error_name = describe_code;
  api.get_error_string = describe_code;
  return detail::locate(api, 0x1000);
}

}  // namespace

TEST(GpuAddress, HasTheOrdinalOfItsGpu)
{
  auto const address = locate({.type = CU_MEMORYTYPE_DEVICE, .ordinal = 3});
  EXPECT_EQ(address.ordinal, 3);
  EXPECT_EQ(address.kind, gpu_memory_kind::device);
}

TEST(GpuAddress, IsOfManagedMemoryWhereverItIs)
{
  for (auto const type : {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST})
    EXPECT_EQ(locate({.type = type, .is_managed = 1, .ordinal = 1}).kind, gpu_memory_kind::managed);
}

TEST(GpuAddress, MayBeOfTheHost)
{
  EXPECT_EQ(locate({.type = CU_MEMORYTYPE_HOST}).kind, gpu_memory_kind::host);
}

TEST(GpuAddress, OfOtherMemoryIsRefused)
{
  driver_reply const unknown{.code = CUDA_ERROR_INVALID_VALUE, .type = CU_MEMORYTYPE_DEVICE};
  driver_reply const without_gpu{.type = CU_MEMORYTYPE_DEVICE, .ordinal = -2};  // CU_DEVICE_INVALID
  for (auto const& reply : {driver_reply{}, unknown, without_gpu})
    expect_error<usage_error>([&] { (void)locate(reply); },
                              "the address 0x1000 is not in memory of CUDA");
}

TEST(GpuAddress, OfAFailedDriverIsADeviceError)
{
  expect_error<device_error>([] { (void)locate({.code = CUDA_ERROR_ILLEGAL_ADDRESS}); },
                             "locating the address 0x1000 failed: the reason");
}
