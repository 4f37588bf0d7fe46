// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms on a GPU.
#include "shipped_plans/reduce_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, Reductions, testing::Values("gpu"));

}  // namespace fatlink
