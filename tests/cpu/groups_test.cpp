// SPDX-License-Identifier: Apache-2.0
// Cooperative groups, asynchronous copies, matrices and clusters on the reference device.
#include "groups_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, Groups, testing::Values("cpu"));

}  // namespace fatlink
