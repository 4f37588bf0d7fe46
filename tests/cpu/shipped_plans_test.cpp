// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms on the reference device.
#include "shipped_plans/by_key_suite.hpp"
#include "shipped_plans/depth_suite.hpp"
#include "shipped_plans/histogram_suite.hpp"
#include "shipped_plans/load_suite.hpp"
#include "shipped_plans/map_suite.hpp"
#include "shipped_plans/merge_suite.hpp"
#include "shipped_plans/reduce_suite.hpp"
#include "shipped_plans/scan_suite.hpp"
#include "shipped_plans/segmented_reduce_suite.hpp"
#include "shipped_plans/select_suite.hpp"
#include "shipped_plans/slice_suite.hpp"
#include "shipped_plans/transform_reduce_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, Depths, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Histograms, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Loads, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Maps, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Merges, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Partitions3, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Reductions, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, RunLists, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Runs, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Scans, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Searches, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, SegmentedReductions, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Selections, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, Slices, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, TransformReductions, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Cpu, TransformSelections, testing::Values("cpu"));

}  // namespace fatlink
