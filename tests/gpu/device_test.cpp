// SPDX-License-Identifier: Apache-2.0
// A real GPU; skipped with the reason where there is none.
#include "fatlink/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "expect_error.hpp"
#include "fatlink/execute.hpp"
#include "fatlink/linker.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"

using namespace fatlink;

namespace {

class Gpu : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string why;
    if (list_gpus(why).empty()) GTEST_SKIP() << why;
    if (why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    device_ = open_device("gpu");
  }

  [[nodiscard]] linked_image link(char const* transform, link_mode mode) const
  {
    return linker().link(
        {fatbin::read(places::data("apply_transform.fatbin")),
         fatbin::read(places::data(transform + std::string(".fatbin")))},
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

TEST(Device, RefusesOtherSpellings)
{
  for (auto const* name : {"", "tpu", "gpu:", "gpu:x", "-1", "gpu:-1"})
    expect_error<usage_error>([&] { (void)open_device(name); }, "no such device");
}
