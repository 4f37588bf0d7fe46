// SPDX-License-Identifier: Apache-2.0
// The shipped sorts on a GPU.
#include "shipped_plans/sort_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, SegmentedSorts, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Sorts, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, TopElements, testing::Values("gpu"));

}  // namespace fatlink
