// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms on the reference device.
#include "shipped_plans/reduce_suite.hpp"
#include "shipped_plans/sort_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, Reductions, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Sorts, testing::Values("cpu"));

}  // namespace fatlink
