// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms on a GPU.
#include "shipped_plans/reduce_suite.hpp"
#include "shipped_plans/sort_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, Reductions, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Sorts, testing::Values("gpu"));

}  // namespace fatlink
