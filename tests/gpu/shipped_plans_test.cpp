// SPDX-License-Identifier: Apache-2.0
// The shipped libraries of algorithms on a GPU.
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

INSTANTIATE_TEST_SUITE_P(Gpu, Depths, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Histograms, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Loads, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Maps, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Merges, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Partitions3, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Reductions, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, RunLists, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Runs, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Scans, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Searches, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, SegmentedReductions, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Selections, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Slices, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, TransformReductions, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, TransformSelections, testing::Values("gpu"));

}  // namespace fatlink
