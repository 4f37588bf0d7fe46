// SPDX-License-Identifier: Apache-2.0
// Tiered swaps: a quick link at once, the lto link when it is ready.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>

#include "asynchronous_device.hpp"
#include "expect_error.hpp"
#include "fatlink/live_module.hpp"
#include "fixtures.hpp"
#include "live_fixture.hpp"
#include "needs_nvjitlink.hpp"

using namespace fatlink;
using fixtures::input_file;
using testing::HasSubstr;

namespace {

class LiveTiers : public fixtures::needs_nvjitlink {
 protected:
  /// Passes results of second links to results_.
  [[nodiscard]] live_settings settings()
  {
    return {.tiered = true, .on_best = [this](tier_result const& result) {
              std::lock_guard const lock(mutex_);
              results_.push_back(result);
            }};
  }
  [[nodiscard]] std::vector<tier_result> results()
  {
    std::lock_guard const lock(mutex_);
    return results_;
  }

  std::vector<input> const inputs_{input_file("library.fatbin"), input_file("transform.fatbin")};
  std::shared_ptr<device> cpu_ = open_device("cpu");
  std::mutex mutex_;
  std::vector<tier_result> results_;
};

}  // namespace

TEST_F(LiveTiers, PublishTheQuickLinkFirstAndTheLtoLinkLater)
{
  live_module live(*cpu_, linker(), settings());
  auto const first = live.swap(inputs_);
  EXPECT_EQ(first.mode, link_mode::ptx);
  EXPECT_EQ(first.tier, swap_tier::first);
  EXPECT_EQ(first.version, 1U);
  auto const best = live.wait_for_best();
  EXPECT_EQ(best.mode, link_mode::lto);
  EXPECT_EQ(best.tier, swap_tier::best);
  EXPECT_EQ(live.current().number, 2U);
  ASSERT_EQ(results().size(), 1U);
  EXPECT_EQ(results()[0].report.version, 2U);
  EXPECT_EQ(results()[0].error, nullptr);
}

TEST_F(LiveTiers, KeepTheFirstVersionWhenTheLtoLinkFails)
{
  live_module live(*cpu_, linker(), settings());
  auto const report = live.swap({input_file("library.fatbin"), input_file("forms/transform.ptx")});
  EXPECT_EQ(report.tier, swap_tier::first);
  expect_error<refused_error>([&] { (void)live.wait_for_best(); }, "transform.ptx holds no LTO-IR");
  EXPECT_EQ(live.current().number, 1U);
  ASSERT_EQ(results().size(), 1U);
  EXPECT_THROW(std::rethrow_exception(results()[0].error), refused_error);
}

TEST_F(LiveTiers, ReportTheErrorOfTheLastSwapOnly)
{
  live_module live(*cpu_, linker(), settings());
  live.swap({input_file("library.fatbin"), input_file("forms/transform.ptx")});
  EXPECT_THROW((void)live.wait_for_best(), refused_error);
  live.swap(inputs_);
  EXPECT_EQ(live.wait_for_best().tier, swap_tier::best);
}

TEST_F(LiveTiers, VerifyBothVersions)
{
  live_module live(*cpu_, linker(), settings());
  std::atomic<int> verified = 0;
  live.swap(inputs_, {.verify = [&](loaded_module const&) {
              if (++verified == 2) throw std::runtime_error("the second one is wrong");
            }});
  EXPECT_THROW((void)live.wait_for_best(), std::runtime_error);
  EXPECT_EQ(live.current().number, 1U);
}

/// The second swap waits for the first one, and publishes when the lto link of that one is ready.
TEST_F(LiveTiers, NeverReplaceALaterSwap)
{
  live_module live(*cpu_, linker(), settings());
  std::promise<void> is_second_waiting;
  std::future<swap_report> second;
  live.swap(inputs_, {.verify = [&](loaded_module const&) {
              if (second.valid()) return;
              second = std::async(std::launch::async, [&] {
                is_second_waiting.set_value();
                return live.swap(inputs_, {.verify = [](loaded_module const&) {
                                   std::this_thread::sleep_for(std::chrono::milliseconds(500));
                                 }});
              });
              is_second_waiting.get_future().wait();
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }});
  EXPECT_EQ(second.get().version, 2U);
  auto const best = live.wait_for_best();
  EXPECT_EQ(best.version, 3U);
  EXPECT_EQ(best.tier, swap_tier::best);
  ASSERT_EQ(results().size(), 1U) << "the lto link of the first swap is not published";
  EXPECT_EQ(results()[0].report.version, 3U);
}

TEST_F(LiveTiers, LeaveTheLtoLinkOfAnEarlierSwapToALaterOneThatFails)
{
  live_module live(*cpu_, linker(), settings());
  live.swap(inputs_);
  EXPECT_THROW(live.swap({input_file("library.fatbin")}), refused_error);
  EXPECT_EQ(live.wait_for_best().tier, swap_tier::best);
}

TEST_F(LiveTiers, SayWhyThereIsOnlyOne)
{
  live_module live(*cpu_, linker(), settings());
  auto const report =
      live.swap({input_file("library.fatbin"), input_file("transform_ltoir.fatbin")});
  EXPECT_EQ(report.tier, swap_tier::only);
  EXPECT_EQ(report.mode, link_mode::lto);
  EXPECT_THAT(report.single_tier_reason, HasSubstr("holds no PTX"));
  EXPECT_EQ(live.wait_for_best().version, 1U);
}

TEST_F(LiveTiers, EndWithTheLiveModule)
{
  {
    live_module live(*cpu_, linker(), settings());
    live.swap(inputs_);
  }
  EXPECT_LE(results().size(), 1U);
}

TEST_F(LiveTiers, MayEndTheLiveModuleInTheirCallback)
{
  std::promise<void> ended;
  auto live = std::make_shared<std::optional<live_module>>();
  std::promise<void> is_published;
  live->emplace(*cpu_, linker(), live_settings{.tiered = true, .on_best = [&](tier_result const&) {
                                                 is_published.get_future().wait();
                                                 live->reset();
                                                 ended.set_value();
                                               }});
  (*live)->swap(inputs_);
  is_published.set_value();
  ended.get_future().wait();
}

/// Images of a GPU are replaced by PTX for the reference device.
TEST_F(LiveTiers, LinkTheSassOfAllInputsOnAGpu)
{
  auto const backend = std::make_shared<fixtures::asynchronous_device>(device_kind::gpu);
  backend->replacement = [](linked_image const&) {
    linked_image image{.kind = image_kind::ptx};
    auto const text = fixtures::store_text(1);
    auto const bytes = std::as_bytes(std::span(text));
    image.bytes.assign(bytes.begin(), bytes.end());
    return image;
  };
  live_module live(device(backend), linker(), settings());
  auto const report =
      live.swap({input_file("library_sass.fatbin"), input_file("forms/relocatable.cubin")});
  EXPECT_EQ(report.mode, link_mode::sass);
  EXPECT_EQ(report.tier, swap_tier::first);
  expect_error<refused_error>([&] { (void)live.wait_for_best(); }, "holds no LTO-IR");
  auto const without = live.swap(inputs_);
  EXPECT_EQ(without.tier, swap_tier::only);
  EXPECT_THAT(without.single_tier_reason, HasSubstr("holds no SASS"));
}
