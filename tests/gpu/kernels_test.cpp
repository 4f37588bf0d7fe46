// SPDX-License-Identifier: Apache-2.0
// The suites that run on the reference device and on GPUs, on a GPU.
#include "arithmetic_suite.hpp"
#include "device_suite.hpp"
#include "elementwise_suite.hpp"
#include "interface_suite.hpp"
#include "kernels_suite.hpp"
#include "plan_refusals_suite.hpp"
#include "plan_suite.hpp"
#include "progress_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, DeviceApi, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Kernels, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Elementwise, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Arithmetic, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Interface, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Progress, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Plans, testing::Values("gpu"));

}  // namespace fatlink
