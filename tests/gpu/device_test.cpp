// SPDX-License-Identifier: Apache-2.0
// A GPU through the driver; skipped, with the reason, where there is none.
#include "fatlink/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "device/cuda_driver.hpp"
#include "expect_error.hpp"
#include "fatlink/linker.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"

using namespace fatlink;

namespace {

class Gpu : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string reason;
    if (list_gpus(reason).empty()) GTEST_SKIP() << reason;
    if (reason = fixtures::why_no_nvjitlink(); !reason.empty()) GTEST_SKIP() << reason;
    device_ = open_device("gpu");
  }

  [[nodiscard]] linked_image link(char const* transform, link_mode mode) const
  {
    return linker().link({fatbin::read(places::data("apply_transform.fatbin")),
                          fatbin::read(places::data(transform + std::string(".fatbin")))},
                         device_->link_options(mode));
  }

  [[nodiscard]] kernel<void(float const*, float*, std::size_t)> load(char const* transform,
                                                                     link_mode mode) const
  {
    return device_->load(link(transform, mode))
        .kernel<void(float const*, float*, std::size_t)>("apply_transform");
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
    EXPECT_THAT(failed.details().hint, testing::HasSubstr("allocate less memory"));
  }
  auto const code = load("identity", link_mode::lto);
  auto s = device_->create_stream();
  expect_error<device_error>(
      [&] { code.launch(s, {.grid = 1, .block = 4096, .shared_bytes = 0}, nullptr, nullptr, 0); },
      "launching a kernel");
}

TEST_F(Gpu, RefusesAnImageForAnotherArchitectureWhenItIsLoaded)
{
  auto options = device_->link_options(link_mode::ptx);
  options.target = device_->info().target == target(75) ? target(80) : target(75);
  auto const image = linker().link({fatbin::read(places::data("apply_transform.fatbin")),
                                    fatbin::read(places::data("identity.fatbin"))},
                                   options);
  expect_error<device_error>([&] { (void)device_->load(image); }, "loading the linked image on");
}

namespace {

/// Launches on a non-blocking stream right after memory was set, and looks for the old values.
class Ordering : public Gpu {
 protected:
  static constexpr unsigned k_rounds = 1000;
  static constexpr std::size_t k_large = std::size_t{1} << 28;  // floats: 1 GiB
  static constexpr std::size_t k_small = 4096;

  void SetUp() override
  {
    Gpu::SetUp();
    if (IsSkipped()) return;
    large_.emplace(device_->allocate<float>(k_large));
    small_.emplace(device_->allocate<float>(k_small));
    copied_.emplace(device_->allocate<float>(2 * k_small));
    stream_.emplace(device_->create_stream());
    identity_.emplace(load("identity", link_mode::lto));
  }

  /// Rounds in which a kernel saw old values of the large buffer's end, or of the small buffer,
  /// which is set while the large one may still be being set.
  template <typename Set>
  unsigned count_stale_rounds(Set const& set)
  {
    unsigned stale = 0;
    std::vector<float> results(2 * k_small);
    for (unsigned round = 0; round < k_rounds; ++round) {
      auto const value = std::byte(1 + round % 100);  // no NaN
      set(*large_, value);
      set(*small_, value);
      copy(small_->data(), copied_->data());
      copy(large_->data() + (k_large - k_small), copied_->data() + k_small);
      stream_->synchronize();
      copied_->read(results);
      auto const bits = 0x01010101U * std::to_integer<unsigned>(value);
      auto const is_old = [&](float x) { return std::bit_cast<std::uint32_t>(x) != bits; };
      stale += std::any_of(results.begin(), results.end(), is_old) ? 1 : 0;
    }
    return stale;
  }

  void copy(float const* source, float* destination)
  {
    identity_->launch(*stream_, elementwise_shape(k_small), source, destination, k_small);
  }

  std::optional<device_buffer<float>> large_, small_, copied_;
  std::optional<stream> stream_;
  std::optional<kernel<void(float const*, float*, std::size_t)>> identity_;
};

}  // namespace

TEST_F(Ordering, FillIsCompleteForLaunchesOnNonBlockingStreams)
{
  EXPECT_EQ(count_stale_rounds([](auto& buffer, std::byte value) { buffer.fill(value); }), 0U);
}

TEST_F(Ordering, FillOnAStreamIsOrderedWithItsLaunches)
{
  EXPECT_EQ(
      count_stale_rounds([&](auto& buffer, std::byte value) { buffer.fill(value, *stream_); }), 0U);
}

/// Shows that the first test can fail: without synchronisation launches do see old values.
TEST_F(Ordering, MemsetOfTheDriverIsNotOrderedBeforeNonBlockingStreams)
{
  auto const& api = detail::driver::open();
  auto const set = [&](auto& buffer, std::byte value) {
    api.check(api.memset_bytes(buffer.address(), std::to_integer<unsigned char>(value),
                               buffer.size() * sizeof(float), nullptr),
              "setting memory");
  };
  EXPECT_GT(count_stale_rounds(set), 0U);
}

TEST_F(Ordering, WriteIsCompleteForLaunchesOnNonBlockingStreams)
{
  std::vector<float> values(k_small);
  auto const write = [&](auto& buffer, std::byte value) {
    auto const bits = 0x01010101U * std::to_integer<unsigned>(value);
    std::fill(values.begin(), values.end(), std::bit_cast<float>(bits));
    buffer.write(values, buffer.size() - k_small);
  };
  EXPECT_EQ(count_stale_rounds(write), 0U);
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
