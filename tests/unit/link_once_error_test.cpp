// SPDX-License-Identifier: Apache-2.0
// Errors of a collective link, which all ranks get.
#include <gmock/gmock.h>

#include <stdexcept>

#include "cluster/exchange.hpp"
#include "link_once_job.hpp"

using namespace fatlink;
using namespace std::chrono_literals;
using fixtures::job;
using fixtures::ptx_for;
using fixtures::same_failure;
using fixtures::task_of;

TEST(LinkOnce, ARefusalIsTheSameOnAllRanks)
{
  job ranks(16);
  ranks.run([](unsigned /*rank*/) {
    return link_task{.inputs = {fixtures::verified("library.fatbin")}, .options = ptx_for("sm_90")};
  });
  auto const first = same_failure<refused_error>(ranks);
  EXPECT_TRUE(first.details().code == "missing-hook");
  EXPECT_THAT(first.what(), testing::StartsWith("cannot link for sm_90: "));
  for (unsigned rank = 1; rank < 16; ++rank) {
    auto const failure = ranks.failure<refused_error>(rank);
    auto const& findings = failure.findings();
    ASSERT_EQ(findings.size(), first.findings().size());
    for (std::size_t index = 0; index < findings.size(); ++index)
      EXPECT_EQ(findings[index].message, first.findings()[index].message);
  }
}

TEST(LinkOnce, ARefusalOfOneGroupIsTheErrorOfAllRanks)
{
  job ranks(4);
  ranks.run([](unsigned rank) {
    auto task = task_of("transform.fatbin");
    if (rank == 3) task.inputs.pop_back();
    return task;
  });
  EXPECT_TRUE(same_failure<refused_error>(ranks).details().code == "missing-hook");
}

TEST(LinkOnce, AnErrorBeforeTheLinkNamesTheRank)
{
  job ranks(16);
  ranks.run([](unsigned rank) {
    auto task = task_of("transform.fatbin");
    if (rank == 3) task.inputs.push_back(input::read("/absent/x.fatbin"));
    return task;
  });
  auto const failure = same_failure<file_error>(ranks);
  EXPECT_THAT(failure.what(), testing::StartsWith("rank 3: /absent/x.fatbin"));
  EXPECT_TRUE(failure.details().code == error_code::unreadable_file);
}

TEST(LinkOnce, AnExceptionOfTheCallerNamesTheRank)
{
  job ranks(4);
  ranks.run([](unsigned rank) -> link_task {
    if (rank == 2) throw std::runtime_error("the disk is gone");
    return task_of("transform.fatbin");
  });
  EXPECT_STREQ(same_failure<error>(ranks).what(), "rank 2: the disk is gone");
}

TEST(LinkOnce, ALinkWithoutInputsIsAnErrorOfAllRanks)
{
  job ranks(2);
  ranks.run([](unsigned rank) { return rank == 0 ? task_of("transform.fatbin") : link_task{}; });
  EXPECT_STREQ(same_failure<usage_error>(ranks).what(),
               "rank 1: no inputs: there is nothing to link");
}

TEST(LinkOnce, AMessageOfAnotherVersionNamesTheRank)
{
  job ranks(3);
  auto message = detail::seal({.step = detail::message_step::report, .call = 1}, {});
  message[4] = std::byte{9};
  ranks.all().put(2, 0, message);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  auto const failure = same_failure<rank_error>(ranks);
  EXPECT_STREQ(failure.what(),
               "the message of rank 2 cannot be used: its version is 9, this fatlink's is 1");
  EXPECT_TRUE(failure.details().code == "invalid-message");
  EXPECT_THAT(failure.ranks(), testing::ElementsAre(2));
}

TEST(LinkOnce, TheCallAfterAnErrorWorks)
{
  job ranks(8);
  ranks.run([](unsigned rank) {
    return rank == 5 ? throw std::runtime_error("not now") : task_of("transform.fatbin");
  });
  EXPECT_TRUE(ranks.has_failed(7));
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  for (unsigned rank = 0; rank < 8; ++rank) EXPECT_FALSE(ranks.has_failed(rank)) << rank;
  EXPECT_THAT(ranks.linking(), testing::ElementsAre(0));
}

TEST(LinkOnce, ALimitOfZeroIsRefused)
{
  job ranks(1);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); }, 0ms);
  EXPECT_STREQ(ranks.failure<usage_error>(0).what(), "a limit of 0 ms for other ranks");
}
