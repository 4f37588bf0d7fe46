// SPDX-License-Identifier: Apache-2.0
// Live modules and live plans on a GPU.
#include "live_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, LiveModules, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, LivePlans, testing::Values("gpu"));

}  // namespace fatlink
