// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that CUDA programs consist of, on the reference device, also while it looks
// for races.
#include "algorithms/cub_blocks_suite.hpp"
#include "algorithms/cub_grids_suite.hpp"
#include "algorithms/grids_suite.hpp"
#include "algorithms/groups_suite.hpp"
#include "algorithms/waiting_suite.hpp"
#include "algorithms/bits_suite.hpp"
#include "algorithms/matrices_suite.hpp"
#include "algorithms/numeric_suite.hpp"
#include "algorithms/sequences_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, CubBlocks, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, CubWarps, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, CubGrids, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Grids, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Groups, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Waiting, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Bits, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Matrices, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Numeric, testing::Values("cpu", "checked"));
INSTANTIATE_TEST_SUITE_P(Cpu, Sequences, testing::Values("cpu", "checked"));

}  // namespace fatlink
