// SPDX-License-Identifier: Apache-2.0
// The reference device when the host is out of memory: operator new of this test program fails on
// request.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "interpreter/machine.hpp"

namespace {

constexpr std::size_t k_never = std::numeric_limits<std::size_t>::max();
thread_local std::size_t allocations_left = k_never;

/// Makes one allocation of this thread fail, after `count` successful ones.
class failing_allocation {
 public:
  explicit failing_allocation(std::size_t count) { allocations_left = count; }
  ~failing_allocation() { allocations_left = k_never; }
  failing_allocation(failing_allocation const&) = delete;
  failing_allocation& operator=(failing_allocation const&) = delete;
};

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size)
{
  auto const is_failing = allocations_left == 0;
  if (allocations_left != k_never) allocations_left = is_failing ? k_never : allocations_left - 1;
  auto* const storage = is_failing ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (storage == nullptr) throw std::bad_alloc();
  return storage;
}

/// Sanitizers have their own, whose storage the operator delete below does not release.
[[gnu::noinline]] void* operator new(std::size_t size, std::nothrow_t const& /*tag*/) noexcept
try {
  return operator new(size);
} catch (std::bad_alloc const&) {
  return nullptr;
}

[[gnu::noinline]] void operator delete(void* storage) noexcept
{
  std::free(storage);
}

[[gnu::noinline]] void operator delete(void* storage, std::size_t /*size*/) noexcept
{
  std::free(storage);
}

using namespace fatlink::interpreter;

TEST(AllocationFailure, OfAReleaseKeepsTheRegionsAndThrowsNothing)
{
  memory device;
  std::vector<allocation> const requests(3, {.size = 64, .name = {}, .read_only = false});
  auto const regions = device.allocate(requests);
  {
    failing_allocation const failure(0);
    device.release(regions);
  }
  EXPECT_EQ(device.snapshot()->size(), 3U);
  device.release(regions);
  EXPECT_TRUE(device.snapshot()->empty());
}

TEST(AllocationFailure, OfAProgramLeavesNoRegionBehind)
{
  module_text const module{
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".func callee() { ret; }\n"
      ".global .align 8 .u64 pointer = callee;\n",
      "module"};
  auto const device = std::make_shared<memory>();
  std::size_t failures = 0;
  for (bool is_loaded = false; !is_loaded;) try {
      failing_allocation const failure(failures);
      program const loaded(device, {&module, 1});
      is_loaded = true;
    } catch (std::bad_alloc const&) {
      ASSERT_TRUE(device->snapshot()->empty()) << "after " << failures << " allocations";
      ++failures;
    }
  EXPECT_GT(failures, 10U);
}
