// SPDX-License-Identifier: Apache-2.0
// The reference device and searches for files when the host is out of memory: the allocations of
// this test program fail on request.
#include <gtest/gtest.h>

#include "failing_allocation.hpp"
#include "interpreter/machine.hpp"
#include "util/files/read_file.hpp"

using fixtures::failing_allocation;
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

/// realpath of libc allocates, too, and a path that cannot be read is a file that is not there.
TEST(AllocationFailure, OfASearchIsNoMissingFile)
{
  std::size_t failures = 0;
  for (bool is_found = false; !is_found; ++failures) try {
      std::error_code failure;
      std::filesystem::path const path("/proc/self/cwd");
      failing_allocation const scarce(failures);
      auto const real = fatlink::detail::real_path(path, failure);
      ASSERT_FALSE(failure) << "after " << failures << " allocations";
      is_found = !real.empty();
    } catch (std::bad_alloc const&) {
    }
  EXPECT_GT(failures, 1U);
}
