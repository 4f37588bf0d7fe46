// SPDX-License-Identifier: Apache-2.0
// A real GPU; skipped with the reason where there is none.
#include "fatlink/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "expect_error.hpp"
#include "fatlink/execute.hpp"
#include "fatlink/linker.hpp"

using namespace fatlink;

namespace {

class Gpu : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string why;
    if (list_gpus(why).empty()) GTEST_SKIP() << why;
    device_ = open_device("gpu");
  }

  [[nodiscard]] linked_image link(char const* transform, link_mode mode) const
  {
    auto const folder = std::string(FATLINK_DATA_DIR) + "/";
    return linker().link(
        {fatbin::read(folder + "apply_transform.fatbin"),
         fatbin::read(folder + transform + ".fatbin")},
        {.target = device_->info().target, .mode = mode, .emit = image_kind::cubin, .kernel = {}});
  }

  [[nodiscard]] kernel<float const*, float*, std::size_t> load(char const* transform,
                                                               link_mode mode) const
  {
    return device_->load(link(transform, mode))
        .kernel<float const*, float*, std::size_t>("apply_transform");
  }

  std::shared_ptr<device> device_;
};

}  // namespace

TEST_F(Gpu, TakesEveryAlignmentAndTouchesNothingElse)
{
  constexpr std::size_t k_room = 4200;
  constexpr float k_guard = -12345.0F;
  auto const code = load("identity", link_mode::lto);
  std::vector<float> values(k_room);
  for (std::size_t i = 0; i < k_room; ++i) values[i] = static_cast<float>(i);
  auto in = device_->allocate<float>(k_room);
  auto out = device_->allocate<float>(k_room);
  in.write(values);
  auto s = device_->create_stream();
  for (std::size_t const count : {1U, 2U, 3U, 5U, 255U, 4096U})
    for (std::size_t from = 0; from < 4; ++from)
      for (std::size_t to = 0; to < 4; ++to) {
        std::vector<float> got(k_room, k_guard);
        out.write(got);
        code.launch(s, elementwise_shape(device_->info(), count), in.data() + from,
                    out.data() + 8 + to, count);
        s.synchronize();
        out.read(got);
        auto const begin = got.begin() + static_cast<std::ptrdiff_t>(8 + to);
        auto const end = begin + static_cast<std::ptrdiff_t>(count);
        EXPECT_TRUE(std::equal(begin, end, values.begin() + static_cast<std::ptrdiff_t>(from)))
            << count << ' ' << from << ' ' << to;
        EXPECT_TRUE(std::all_of(got.begin(), begin, [](float x) { return x == k_guard; }));
        EXPECT_TRUE(std::all_of(end, got.end(), [](float x) { return x == k_guard; }));
      }
}

TEST_F(Gpu, ComputesInPlaceAndWithAnyGrid)
{
  auto const code = load("softsign", link_mode::ptx);
  std::vector<float> const ones(10'001, 1.0F);
  auto s = device_->create_stream();
  for (unsigned const blocks : {1U, 7U, 1000U}) {
    auto data = device_->allocate<float>(ones.size());
    data.write(ones);
    code.launch(s, {.grid = blocks, .block = 96, .shared_bytes = 0}, data.data(), data.data(),
                ones.size());
    s.synchronize();
    std::vector<float> got(ones.size());
    data.read(got);
    EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](float x) { return x == 0.5F; })) << blocks;
  }
}

TEST_F(Gpu, NamesAKernelThatIsNotThere)
{
  auto const loaded = device_->load(link("identity", link_mode::lto));
  expect_error<file_error>([&] { (void)loaded.kernel<>("nope"); },
                           "kernel nope is not in the linked image");
}

TEST_F(Gpu, ReportsDriverErrorsByName)
{
  try {
    (void)device_->allocate<char>(std::size_t{1} << 50);
    ADD_FAILURE() << "allocated";
  } catch (device_error const& failed) {
    EXPECT_EQ(failed.details().code, "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_THAT(failed.details().hint, testing::HasSubstr("fewer --elements"));
  }
  auto const code = load("identity", link_mode::lto);
  auto s = device_->create_stream();
  expect_error<device_error>(
      [&] { code.launch(s, {.grid = 1, .block = 4096, .shared_bytes = 0}, nullptr, nullptr, 0); },
      "launching a kernel");
}

TEST_F(Gpu, RefusesBytesThatAreNoImage)
{
  linked_image broken;
  broken.bytes.resize(100);
  expect_error<device_error>([&] { (void)device_->load(broken); }, "loading the linked image");
}

TEST_F(Gpu, ServesTwoThreads)
{
  std::vector<int> right(2);
  {
    std::vector<std::jthread> threads;
    for (auto& result : right)
      threads.emplace_back([&] {
        std::vector<linked_image> const images{link("relu_poly", link_mode::lto)};
        auto const source = generated_elements(100'000, 1);
        auto const folder = std::string(FATLINK_DATA_DIR) + "/";
        result = execute(*device_, images, *source,
                         {.kernel = "apply_transform",
                          .reference = reference::beside(folder + "relu_poly.fatbin"),
                          .output = nullptr,
                          .progress = {}})
                     .images[0]
                     .against_reference.verified();
      });
  }
  EXPECT_EQ(right, (std::vector<int>{1, 1}));
}

TEST(Device, RefusesOtherSpellings)
{
  for (auto const* name : {"", "tpu", "gpu:", "gpu:x", "-1", "gpu:-1"})
    expect_error<usage_error>([&] { (void)open_device(name); }, "no such device");
}
