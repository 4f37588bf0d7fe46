// SPDX-License-Identifier: Apache-2.0
// The shipped sorts on the reference device.
#include "shipped_plans/sort_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, SegmentedSorts, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Sorts, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, TopElements, testing::Values("cpu"));

}  // namespace fatlink
