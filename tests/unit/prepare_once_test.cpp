// SPDX-License-Identifier: Apache-2.0
// prepare_once of ranks that are threads.
#include <gmock/gmock.h>

#include "fatlink/link_once.hpp"
#include "fixtures.hpp"
#include "places.hpp"
#include "thread_channel.hpp"

using namespace fatlink;

namespace {

/// Runs prepare_once on 4 ranks. The errors of those that have one.
std::vector<std::string> prepare_on_ranks(std::string const& library,
                                          std::function<device(unsigned rank)> const& open)
{
  fixtures::mailboxes all(4);
  std::vector<std::string> texts(4);
  fixtures::run_ranks(all, [&](fixtures::thread_channel& channel) {
    linker links;
    plan_request const request{.library = library,
                               .transforms = {places::data("add_float.fatbin")},
                               .mode = link_mode::ptx};
    try {
      (void)prepare_once(
          channel, [&] { return open(channel.rank()); }, links, request);
    } catch (error const& failure) {
      texts[channel.rank()] = failure.what();
    }
  });
  return texts;
}

}  // namespace

TEST(PrepareOnce, PreparesThePlanOnEachRank)
{
  auto const texts = prepare_on_ranks(places::data("reduce_4.fatbin"),
                                      [](unsigned /*rank*/) { return *open_device("cpu"); });
  EXPECT_THAT(texts, testing::Each(""));
}

TEST(PrepareOnce, AnErrorOfADeviceNamesTheRank)
{
  auto const texts = prepare_on_ranks(places::data("reduce_4.fatbin"), [](unsigned rank) {
    return *open_device(rank == 2 ? "tpu" : "cpu");
  });
  EXPECT_THAT(texts, testing::Each(testing::StartsWith("rank 2: ")));
}

TEST(PrepareOnce, AnErrorOfThePlanNamesTheRank)
{
  auto const texts = prepare_on_ranks(fixtures::path("library.fatbin"),
                                      [](unsigned /*rank*/) { return *open_device("cpu"); });
  EXPECT_THAT(texts, testing::Each(testing::AllOf(testing::StartsWith("rank 0: "),
                                                  testing::HasSubstr("states a launch plan"))));
}
