// SPDX-License-Identifier: Apache-2.0
// The shipped sorts on the reference device.
#include "shipped_plans/sort_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, Sorts, testing::Values("cpu"));

}  // namespace fatlink
