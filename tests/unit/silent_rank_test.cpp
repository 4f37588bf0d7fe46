// SPDX-License-Identifier: Apache-2.0
// Ranks that do not answer in a collective link, or answer late: the others name them.
#include <gmock/gmock.h>

#include <future>
#include <map>
#include <thread>

#include "link_once_job.hpp"

using namespace fatlink;
using namespace std::chrono_literals;
using fixtures::job;
using fixtures::same_failure;
using fixtures::task_of;

TEST(LinkOnce, ARankThatDoesNotCallIsNamed)
{
  job ranks(8);
  auto const failures = fixtures::run_ranks(ranks.all(), [](fixtures::thread_channel& channel) {
    if (channel.rank() == 3) return;
    linker links;
    auto const task = task_of("transform.fatbin");
    (void)link_once(channel, links, task.inputs, task.options, {.wait_limit = 500ms});
  });
  for (unsigned rank = 0; rank < 8; ++rank) {
    if (rank == 3) continue;
    try {
      std::rethrow_exception(failures[rank]);
    } catch (rank_error const& failure) {
      EXPECT_STREQ(failure.what(),
                   "no answer from rank 3: its call of link_once is missing (limit of each step: "
                   "0.5 s)");
      EXPECT_THAT(failure.ranks(), testing::ElementsAre(3));
      EXPECT_TRUE(failure.details().code == "unresponsive-rank");
      EXPECT_THAT(failure.details().hint, testing::HasSubstr("wait_limit"));
    }
  }
}

namespace {

/// A rank that ends in the middle of a call, before it receives message `number`.
class ending_channel : public fixtures::thread_channel {
 public:
  struct ended {};
  ending_channel(fixtures::mailboxes& all, unsigned rank, int number)
      : thread_channel(all, rank), left_(number)
  {
  }
  std::optional<byte_buffer> receive(unsigned source, time_point deadline) override
  {
    if (--left_ == 0) throw ended();
    return thread_channel::receive(source, deadline);
  }

 private:
  int left_;
};

/// What the ranks say if `ending` ends before it receives message `number`.
std::vector<std::string> errors_without(unsigned ending, int number, unsigned size)
{
  std::vector<std::string> texts(size);
  fixtures::mailboxes all(size);
  fixtures::run_ranks(all, [&](fixtures::thread_channel& channel) {
    linker links;
    auto const task = task_of("transform.fatbin", channel.rank() % 2 == 0 ? "sm_90" : "sm_80");
    ending_channel end(all, channel.rank(), number);
    auto& ranks = channel.rank() == ending ? static_cast<rank_channel&>(end) : channel;
    try {
      (void)link_once(ranks, links, task.inputs, task.options, {.wait_limit = 500ms});
    } catch (rank_error const& failure) {
      texts[channel.rank()] = failure.what();
    }
  });
  return texts;
}

/// The same in another thread: jobs that wait for their limits run side by side.
std::future<std::vector<std::string>> start_without(unsigned ending, int number, unsigned size)
{
  return std::async(std::launch::async, errors_without, ending, number, size);
}

}  // namespace

TEST(LinkOnce, ARankThatEndsBeforeItHasTheImageIsNamed)
{
  std::map<unsigned, std::future<std::vector<std::string>>> jobs;
  for (unsigned const ending : {1U, 4U})  // 1 links for 3, 5 and 7
    jobs[ending] = start_without(ending, 2, 8);
  for (auto& [ending, job] : jobs) {
    auto const texts = job.get();
    for (unsigned rank = 0; rank < 8; ++rank) {
      if (rank == ending) continue;
      EXPECT_EQ(texts[rank], "no answer from rank " + std::to_string(ending) +
                                 ": its confirmation of the image is missing (limit of each step: "
                                 "0.5 s)")
          << rank;
    }
  }
}

TEST(LinkOnce, IfRankZeroEndsItIsNamed)
{
  std::map<std::string, std::future<std::vector<std::string>>> jobs;
  for (auto const& [number, missing] :
       {std::pair{1, "the assignment of links"}, {8, "the verdict"}})
    jobs[missing] = start_without(0, number, 8);
  for (auto& [missing, job] : jobs) {
    auto const texts = job.get();
    for (unsigned rank = 1; rank < 8; ++rank)
      EXPECT_EQ(texts[rank],
                "no answer from rank 0: " + missing + " is missing (limit of each step: 0.5 s)");
  }
}

TEST(LinkOnce, SeveralSilentRanksAreNamed)
{
  fixtures::mailboxes all(12);
  fixtures::thread_channel channel(all, 0);
  linker links;
  auto const task = task_of("transform.fatbin");
  try {
    (void)link_once(channel, links, task.inputs, task.options, {.wait_limit = 1ms});
    FAIL() << "no error";
  } catch (rank_error const& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("ranks 1, 2, 3, 4, 5, 6, 7, 8 and 3 others:"));
    EXPECT_EQ(failure.ranks().size(), 11U);
  }
}

TEST(LinkOnce, ALateRankGetsTheError)
{
  job ranks(4);
  auto const task = [](unsigned rank) {
    if (rank == 3) std::this_thread::sleep_for(1250ms);
    return task_of("transform.fatbin");
  };
  ranks.run(task, 500ms);
  EXPECT_THAT(same_failure<rank_error>(ranks).ranks(), testing::ElementsAre(3));
}
