// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that CUDA programs consist of, on a GPU.
#include "algorithms/async_copies_suite.hpp"
#include "algorithms/bits_suite.hpp"
#include "algorithms/cub_blocks_suite.hpp"
#include "algorithms/cub_grids_suite.hpp"
#include "algorithms/grids_suite.hpp"
#include "algorithms/groups_suite.hpp"
#include "algorithms/language_suite.hpp"
#include "algorithms/matrices_suite.hpp"
#include "algorithms/numeric_suite.hpp"
#include "algorithms/random_numbers_suite.hpp"
#include "algorithms/sequences_suite.hpp"
#include "algorithms/simd_suite.hpp"
#include "algorithms/standard_library_suite.hpp"
#include "algorithms/surface_objects_suite.hpp"
#include "algorithms/texture_objects_suite.hpp"
#include "algorithms/textures_suite.hpp"
#include "algorithms/waiting_suite.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Gpu, AsyncCopies, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Bits, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, CubBlocks, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, CubWarps, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, CubGrids, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Grids, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, CooperativeGroups, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Language, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Matrices, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Numeric, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, RandomNumbers, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Sequences, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Simd, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, StandardLibrary, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, SurfaceObjects, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, TextureObjects, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Textures, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, Waiting, testing::Values("gpu"));

}  // namespace fatlink
