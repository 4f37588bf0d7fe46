// SPDX-License-Identifier: Apache-2.0
// Which ranks of a collective link make the link, and what all of them get. Errors:
// link_once_error_test.cpp. Ranks that do not answer: silent_rank_test.cpp.
#include "fatlink/link_once.hpp"

#include <gmock/gmock.h>

#include "link_once_job.hpp"

using namespace fatlink;
using fixtures::job;
using fixtures::task_of;

TEST(LinkOnce, OneRankOfSixteenLinks)
{
  job ranks(16);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  EXPECT_THAT(ranks.linking(), testing::ElementsAre(0));
  for (auto const& image : ranks.images()) {
    ASSERT_EQ(image.parts.size(), 2U);
    EXPECT_EQ(image.parts[1].text, ranks.images()[0].parts[1].text);
    EXPECT_EQ(image.target, target("sm_90"));
  }
}

TEST(LinkOnce, OneRankOfEachTargetLinks)
{
  job ranks(8);
  ranks.run(
      [](unsigned rank) { return task_of("transform.fatbin", rank % 2 == 0 ? "sm_90" : "sm_80"); });
  EXPECT_THAT(ranks.linking(), testing::ElementsAre(0, 1));
  for (unsigned rank = 0; rank < 8; ++rank)
    EXPECT_EQ(ranks.images()[rank].target, target(rank % 2 == 0 ? "sm_90" : "sm_80"));
}

TEST(LinkOnce, OtherBytesUnderTheSameNameAreAnotherLink)
{
  job ranks(4);
  ranks.run([](unsigned rank) {
    auto task = task_of("transform.fatbin");
    if (rank >= 2) {
      auto bytes = fixtures::bytes("uncontracted.fatbin");
      task.inputs[1] = input::from_bytes(std::move(bytes), "transform.fatbin");
    }
    return task;
  });
  EXPECT_THAT(ranks.linking(), testing::ElementsAre(0, 2));
}

TEST(LinkOnce, LinkersWithOtherConfinementAreLinkedFor)
{
  fixtures::mailboxes all(2);
  std::vector<linked_image> images(2);
  fixtures::run_ranks(all, [&](fixtures::thread_channel& channel) {
    linker links({.allow_unconfined = channel.rank() == 0});
    auto const task = task_of("transform.fatbin");
    images[channel.rank()] = link_once(channel, links, task.inputs, task.options);
  });
  for (auto const& image : images) EXPECT_GT(image.times.preflight_ms, 0);
}

TEST(LinkOnce, RanksThatReceiveTheImageKnowAllButTheTimes)
{
  job ranks(2);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  auto const& made = ranks.images()[0];
  auto const& received = ranks.images()[1];
  EXPECT_EQ(received.bytes, made.bytes);
  EXPECT_EQ(received.kind, made.kind);
  EXPECT_EQ(received.mode, made.mode);
  EXPECT_EQ(received.cache, made.cache);
  EXPECT_EQ(received.warnings, made.warnings);
  ASSERT_EQ(received.hooks.size(), made.hooks.size());
  for (std::size_t index = 0; index < made.hooks.size(); ++index) {
    EXPECT_EQ(received.hooks[index].name, made.hooks[index].name);
    EXPECT_STREQ(to_string(received.hooks[index]), to_string(made.hooks[index]));
  }
  ASSERT_EQ(received.parts.size(), made.parts.size());
  for (std::size_t index = 0; index < made.parts.size(); ++index)
    EXPECT_EQ(received.parts[index].text, made.parts[index].text);
  EXPECT_EQ(received.link_ms + received.times.find_ms + received.times.preflight_ms, 0);
}

TEST(LinkOnce, OneRankNeedsNoMessages)
{
  job ranks(1);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  EXPECT_FALSE(ranks.has_failed(0));
  EXPECT_EQ(ranks.images()[0].parts.size(), 2U);
}
