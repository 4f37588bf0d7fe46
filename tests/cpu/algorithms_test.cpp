// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that CUDA programs consist of, on the reference device, also while it looks
// for races; and kernels with races, which it finds.
#include <gmock/gmock.h>

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
#include "expect_error.hpp"

namespace fatlink {

constexpr auto k_places = std::array{"cpu", "checked"};
INSTANTIATE_TEST_SUITE_P(Cpu, AsyncCopies, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Bits, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, CubBlocks, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, CubWarps, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, CubGrids, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Grids, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, CooperativeGroups, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Language, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Matrices, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Numeric, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, RandomNumbers, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Sequences, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Simd, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, StandardLibrary, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, SurfaceObjects, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, TextureObjects, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Textures, testing::ValuesIn(k_places));
INSTANTIATE_TEST_SUITE_P(Cpu, Waiting, testing::ValuesIn(k_places));

/// On a GPU this needs a cooperative launch.
TEST_P(CooperativeGroups, StepsOfTheWholeGrid)
{
  constexpr unsigned count = 16 * 64;
  auto values = numbers(count);
  auto const device_values = upload(values);
  launch("grid_steps", shape(16, 64), device_values, zeros<unsigned>(count), 10U);
  for (int step = 0; step < 10; ++step) {
    auto const before = values;
    for (unsigned i = 0; i < count; ++i)
      values[i] = before[(i + 1) % count] + before[(i + count - 1) % count];
  }
  EXPECT_EQ(download(device_values), values);
}

/// On a GPU the lines go to the standard output of the process, in any order.
TEST_P(Language, LinesThatThreadsPrint)
{
  testing::internal::CaptureStderr();
  launch("print_lines", shape(1, 4));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "000|-42   |+1.234e+03|text| 99.5%|!|0xff|-1234567890123\n"
            "002|-42   |+1.234e+03|text| 99.5%|!|0xff|-1234567890123\n");
}

/// On a GPU these end the context or are undefined.
TEST_P(TextureObjects, AWriteOutOfBoundsEndsTheKernel)
{
  auto const texels = opened_device().create_array(
      {channel_type::u32, 1}, {.width = k_width, .height = k_height, .allows_surface = true});
  auto const target = opened_device().create_surface(texels);
  EXPECT_NO_THROW(launch("write_at", shape(1, 1), target.handle(), 11, 4));
  expect_error<device_error>([&] { launch("write_at", shape(1, 1), target.handle(), 12, 4); },
                             "sust.b.2d.b32.trap");
  expect_error<device_error>([&] { launch("write_at", shape(1, 1), target.handle(), 0, -1); },
                             "block (0,0,0) thread (0,0,0)");
}

TEST_P(TextureObjects, AHandleOfNoObjectEndsTheKernel)
{
  auto const buffer = zeros<float>(64);
  auto const released = opened_device().create_texture(buffer, {channel_type::f32, 2}).handle();
  auto const fetch = [&](std::uint64_t handle) {
    launch("fetch", shape(1, 32), zeros<std::array<float, 2>>(32), handle, 0);
  };
  expect_error<device_error>([&] { fetch(released); }, "the object of the handle was destroyed");
  expect_error<device_error>([&] { fetch(0); }, "the handle is null");
  expect_error<device_error>([&] { fetch(buffer.address()); }, "the handle is an address");
}

class Races : public Sequences {
 protected:
  /// Runs a kernel that gets results and numbers.
  void expect_race(char const* name, unsigned threads, unsigned blocks = 1)
  {
    expect_error<device_error>(
        [&] { launch(name, shape(blocks, threads), zeros<unsigned>(512), words(512, 1)); },
        "without synchronisation");
  }
};

INSTANTIATE_TEST_SUITE_P(Cpu, Races, testing::Values("checked"));

TEST_P(Races, OfAMissingBarrierOfTheBlock)
{
  expect_race("sum_without_barrier", 256);
  expect_race("fill_without_block_barrier", 64);
}

TEST_P(Races, OfAMissingBarrierOfAWarp)
{
  expect_race("rotate_without_barrier", 32);
  expect_race("fill_without_barrier", 32);
}

class TextureRaces : public Textures {};

INSTANTIATE_TEST_SUITE_P(Cpu, TextureRaces, testing::Values("checked"));

TEST_P(TextureRaces, OfAConvolutionInPlace)
{
  auto const image = array(image_of_floats(16, 8), {channel_type::f32, 1},
                           {.width = 16, .height = 8, .allows_surface = true});
  auto const both = opened_device().create_surface(image);
  expect_error<device_error>(
      [&] {
        launch("convolve", shape(1, {16, 8}), both.handle(), both.handle(),
               std::vector<float>(9, 0.5F), 16U, 8U);
      },
      "without synchronisation");
}

TEST_P(Races, OfAMissingFence)
{
  EXPECT_NO_THROW(launch("publish", shape(2, 32), zeros<unsigned>(64), zeros<unsigned>(1)));
  expect_race("publish_without_fence", 32, 2);
}

}  // namespace fatlink
