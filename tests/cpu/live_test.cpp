// SPDX-License-Identifier: Apache-2.0
// Live modules and live plans on the reference device.
#include "live_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, LiveModules, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, LivePlans, testing::Values("cpu"));

}  // namespace fatlink
