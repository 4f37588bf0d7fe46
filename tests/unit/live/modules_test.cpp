// SPDX-License-Identifier: Apache-2.0
// Live modules on the reference device, of PTX: what swaps publish and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.hpp"
#include "fatlink/live_module.hpp"
#include "fatlink/live_plan.hpp"
#include "fixtures.hpp"
#include "live/live_swap.hpp"
#include "live_fixture.hpp"

using namespace fatlink;
using fixtures::ptx_input;
using fixtures::store_inputs;
using fixtures::store_text;

namespace {

class LiveModule : public testing::Test {
 protected:
  fixtures::live_store store_{*open_device("cpu")};
  live_module& live_ = store_.live;

  /// Expects that nothing has changed since 42 was published as version 1.
  void expect_unchanged(fixtures::live_store::store_kernel const& kernel)
  {
    EXPECT_EQ(store_.launch(kernel), 42);
    EXPECT_EQ(live_.current().number, 1U);
  }
};

}  // namespace

TEST_F(LiveModule, LaunchesTheVersionThatIsPublished)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  EXPECT_EQ(store_.launch(store), 42);
  live_.swap(store_inputs(43));
  EXPECT_EQ(store_.launch(store), 43);
}

TEST_F(LiveModule, NumbersItsVersions)
{
  EXPECT_EQ(live_.swap(store_inputs(1)).version, 1U);
  EXPECT_EQ(live_.swap(store_inputs(2)).version, 2U);
  EXPECT_EQ(live_.current().number, 2U);
}

TEST_F(LiveModule, ReportsModeTierAndTimes)
{
  auto const report = live_.swap(store_inputs(1));
  EXPECT_EQ(report.mode, link_mode::ptx);
  EXPECT_EQ(report.tier, swap_tier::only);
  EXPECT_EQ(report.cache, cache_outcome::off);
  EXPECT_GT(report.times.load_ms, 0);
  EXPECT_GE(report.times.total_ms(), report.times.check_ms + report.times.link_ms);
}

TEST_F(LiveModule, HasNoKernelBeforeTheFirstVersion)
{
  expect_error<usage_error>([&] { (void)store_.kernel(); }, "no version is published");
  expect_error<usage_error>([&] { (void)live_.current(); }, "no version is published");
  expect_error<usage_error>([&] { (void)live_.wait_for_best(); }, "no version is published");
}

TEST_F(LiveModule, KeepsItsVersionWhenTheImageLacksAKernelThatWasGiven)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  expect_error<file_error>([&] { live_.swap({ptx_input(store_text(43, "other"))}); },
                           "there is no kernel store");
  expect_unchanged(store);
}

TEST_F(LiveModule, KeepsItsVersionWhenAKernelHasOtherParameters)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  expect_error<usage_error>(
      [&] { live_.swap({ptx_input(store_text(43, "store", ", .param .u32 n"))}); },
      "kernel store takes 2 parameters of 8, 4 bytes; 1 of 8 was given");
  expect_unchanged(store);
}

TEST_F(LiveModule, KeepsItsVersionWhenTheVerificationThrows)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  EXPECT_THROW(live_.swap(store_inputs(43),
                          {.verify = [](loaded_module const&) { throw std::runtime_error("no"); }}),
               std::runtime_error);
  expect_unchanged(store);
}

TEST_F(LiveModule, KeepsItsVersionWhenTheLinkIsRefused)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  auto const twice = store_text(43);
  EXPECT_THROW(live_.swap({ptx_input(twice, "a.ptx"), ptx_input(twice, "b.ptx")}), refused_error);
  EXPECT_THROW(live_.swap({}), usage_error);
  expect_unchanged(store);
}

TEST_F(LiveModule, KeepsItsVersionWhenAFileIsMissing)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  EXPECT_THROW(live_.swap_files({"/nonexistent/store.fatbin"}), file_error);
  expect_unchanged(store);
}

TEST_F(LiveModule, VerifiesTheNewVersionBeforeItIsPublished)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  int verified = 0;
  int published = 0;
  live_.swap(store_inputs(43), {.verify = [&](loaded_module const& module) {
               published = store_.launch(store);
               module.kernel<void(int*)>("store").launch(
                   stream_view(nullptr), {.grid = 1, .block = 1}, store_.out.data());
               store_.out.read(std::span(&verified, 1));
             }});
  EXPECT_EQ(verified, 43);
  EXPECT_EQ(published, 42);
}

TEST_F(LiveModule, GivesKernelsDuringTheVerification)
{
  std::optional<fixtures::live_store::store_kernel> store;
  live_.swap(store_inputs(42));
  live_.swap(store_inputs(43), {.verify = [&](loaded_module const&) { store = store_.kernel(); }});
  EXPECT_EQ(store_.launch(*store), 43);
}

TEST_F(LiveModule, RefusesAKernelThatIsNotThereOrHasOtherParameters)
{
  live_.swap(store_inputs(42));
  expect_error<file_error>([&] { (void)live_.kernel<void(int*)>("other"); }, "no kernel other");
  expect_error<usage_error>([&] { (void)live_.kernel<void(int)>("store"); },
                            "kernel store takes 1 parameter of 8 bytes; 1 of 4 was given");
  live_.swap({ptx_input(store_text(43, "another"))});  // neither was given
}

TEST_F(LiveModule, LaunchesWithPointersToTheArguments)
{
  live_.swap(store_inputs(42));
  auto const store = live_.find_kernel("store");
  auto* address = store_.out.data();
  std::array<void*, 1> const arguments{&address};
  store.launch_raw(stream_view(nullptr), {.grid = 1, .block = 1}, arguments);
  int value = 0;
  store_.out.read(std::span(&value, 1));
  EXPECT_EQ(value, 42);
  expect_error<usage_error>(
      [&] { store.launch_raw(stream_view(nullptr), {.grid = 1, .block = 1}, {}); },
      "the kernel takes 1 argument; pointers to 0 were passed");
}

TEST_F(LiveModule, RefusesAStreamOfAnotherDevice)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  auto const stream = open_device("cpu")->create_stream();
  expect_error<usage_error>(
      [&] { store.launch(stream, {.grid = 1, .block = 1}, store_.out.data()); },
      "the stream belongs to another device");
}

TEST_F(LiveModule, IsRefusedAfterItWasMovedFrom)
{
  live_.swap(store_inputs(42));
  auto store = store_.kernel();
  auto const moved_kernel = std::move(store);
  auto const moved = std::move(live_);
  expect_error<usage_error>([&] { live_.swap(store_inputs(1)); }, "the live module was moved from");
  expect_error<usage_error>([&] { (void)store_.launch(store); }, "the kernel was moved from");
  EXPECT_EQ(store_.launch(moved_kernel), 42);
}

TEST_F(LiveModule, LivesAsLongAsItsKernels)
{
  live_.swap(store_inputs(42));
  auto const store = store_.kernel();
  live_ = live_module(store_.device, linker());
  EXPECT_EQ(store_.launch(store), 42);
}

TEST_F(LiveModule, LinksAsASwapStates)
{
  expect_error<refused_error>(
      [&] { live_.swap(store_inputs(42), {.link = store_.device.link_options(link_mode::lto)}); },
      "holds no LTO-IR");
  EXPECT_EQ(live_.swap(store_inputs(42)).version, 1U);
}

TEST_F(LiveModule, WithTiersLinksInLtoModeOnly)
{
  auto const& cpu = store_.device;
  expect_error<usage_error>(
      [&] {
        live_module live(cpu, linker(), {.link = cpu.link_options(link_mode::ptx), .tiered = true});
      },
      "a tiered swap ends with an lto link; link_options::mode is ptx");
  live_module live(cpu, linker(), {.tiered = true});
  EXPECT_THROW(live.swap(store_inputs(1), {.link = cpu.link_options(link_mode::ptx)}), usage_error);
}

TEST_F(LiveModule, OrdersSwapsOfSeveralThreads)
{
  live_.swap(store_inputs(0));
  auto const store = store_.kernel();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) live_.swap(store_inputs(t));
    });
  threads.clear();
  EXPECT_EQ(live_.current().number, 21U);
  auto const value = store_.launch(store);
  EXPECT_TRUE(value >= 0 && value < 4) << value;
}

TEST_F(LiveModule, LaunchesOneVersionOrTheOtherWhileItIsSwapped)
{
  live_.swap(store_inputs(1));
  auto const store = store_.kernel();
  std::atomic<bool> is_swapping = true;
  std::vector<std::jthread> threads;
  std::atomic<int> others = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto const out = store_.device.allocate<int>(1);
      while (is_swapping) {
        store.launch(stream_view(nullptr), {.grid = 1, .block = 1}, out.data());
        int value = 0;
        out.read(std::span(&value, 1));
        if (value != 1 && value != 2) ++others;
      }
    });
  for (int i = 0; i < 100; ++i) live_.swap(store_inputs(1 + i % 2));
  is_swapping = false;
  threads.clear();
  EXPECT_EQ(others, 0);
}

TEST(SwapTier, HasNames)
{
  EXPECT_STREQ(to_string(swap_tier::only), "only");
  EXPECT_STREQ(to_string(swap_tier::first), "first");
  EXPECT_STREQ(to_string(swap_tier::best), "best");
  EXPECT_STREQ(to_string(static_cast<swap_tier>(7)), "unknown");
}

// Live plans on the reference device whose files are replaced after they were read.

namespace {

/// A live plan of x.fatbin and y.fatbin, copies of installed files, of which versions follow.
class LivePlanFiles : public testing::Test {
 protected:
  void install(char const* library, char const* transform) const
  {
    copy(library, "x");
    copy(transform, "y");
  }
  [[nodiscard]] std::vector<input> read() const
  {
    return {input::read(path("x.fatbin")), input::read(path("y.fatbin"))};
  }

  [[nodiscard]] std::string path(std::string const& name) const { return folder_.path() / name; }

  device device_ = *open_device("cpu");
  live_plan live_{device_, linker(), {.link = device_.link_options(link_mode::ptx)}};

 private:
  void copy(std::string const& source, std::string const& name) const
  {
    for (auto const* ending : {".fatbin", ".json"})
      std::filesystem::copy_file(places::data(source + ending), path(name + ending),
                                 std::filesystem::copy_options::overwrite_existing);
  }

  fixtures::folder folder_;
};

}  // namespace

TEST_F(LivePlanFiles, TakesThePlanThatTheLibraryWasReadWith)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  auto const inputs = read();
  install("reduce_2", "add_float");
  EXPECT_EQ(live_.swap(inputs).version, 2U);
  EXPECT_EQ(live_.plan().name, "reduce_4");
}

TEST_F(LivePlanFiles, TakesTheElementsThatTheTransformWasReadWith)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  auto const inputs = read();
  install("reduce_4", "greater_float");
  EXPECT_EQ(live_.swap(inputs).version, 2U);
}

TEST_F(LivePlanFiles, RefusesBytesWhoseFileHasBeenReplaced)
{
  install("reduce_4", "add_float");
  auto const library = input::read(path("x.fatbin"));
  byte_buffer const bytes(library.bytes().begin(), library.bytes().end());
  install("reduce_2", "add_float");
  std::vector const inputs{input::from_bytes(bytes, path("x.fatbin")), read().back()};
  expect_error<format_error>([&] { live_.swap(inputs); },
                             "x.fatbin: is not the file that x.json states");
}

TEST_F(LivePlanFiles, TakesTheNextVersionThatIsRead)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  install("reduce_4", "add_float");
  EXPECT_EQ(live_.swap(read()).version, 2U);
}

TEST(KeptArguments, OutliveTheNamesAndLargeValuesOfTheCaller)
{
  using large_value = std::array<int, 12>;
  static_assert(sizeof(large_value) > call_argument::k_inline_bytes);
  auto name = std::make_unique<std::string>("a_name_that_is_longer_than_a_short_string");
  auto value = std::make_unique<large_value>();
  value->fill(7);
  std::vector<call_argument> const arguments{{*name, *value}, {"n", 5}};
  detail::kept_arguments const kept(arguments);
  name->assign(name->size(), 'x');
  value->fill(8);
  ASSERT_EQ(kept.get().size(), 2U);
  EXPECT_EQ(kept.get()[0].name(), "a_name_that_is_longer_than_a_short_string");
  large_value copy{};
  std::memcpy(copy.data(), kept.get()[0].value(), sizeof copy);
  EXPECT_EQ(copy[11], 7);
  EXPECT_EQ(kept.get()[0].element_bytes(), sizeof copy);
  int number = 0;
  std::memcpy(&number, kept.get()[1].value(), sizeof number);
  EXPECT_EQ(number, 5);
}
