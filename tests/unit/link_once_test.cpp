// SPDX-License-Identifier: Apache-2.0
// Collective links of ranks that are threads: sets of PTX, which need no nvJitLink. An image that
// states the time of its preflight was linked by the rank that has it.
#include "fatlink/link_once.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

#include "cluster/exchange.hpp"
#include "fixtures.hpp"
#include "places.hpp"
#include "thread_channel.hpp"

using namespace fatlink;
using namespace std::chrono_literals;

namespace {

link_options ptx_for(char const* name)
{
  return {.target = name, .mode = link_mode::ptx, .emit = image_kind::ptx_set};
}

link_task task_of(char const* transform, char const* target = "sm_90")
{
  return {.inputs = {fixtures::verified("library.fatbin"), fixtures::verified(transform)},
          .options = ptx_for(target)};
}

/// The images of `ranks` ranks, and the errors of those that have none.
class job {
 public:
  explicit job(unsigned ranks) : all_(ranks), images_(ranks) {}

  using task_of_rank = std::function<link_task(unsigned rank)>;
  void run(task_of_rank const& task, std::chrono::milliseconds limit = 1min)
  {
    failures_ = fixtures::run_ranks(all_, [&](fixtures::thread_channel& channel) {
      linker links;
      auto const rank = channel.rank();
      images_[rank] = link_once(channel, links, [&] { return task(rank); }, {.wait_limit = limit});
    });
  }

  [[nodiscard]] std::vector<linked_image> const& images() const { return images_; }
  /// The ranks that linked.
  [[nodiscard]] std::vector<unsigned> linking() const
  {
    std::vector<unsigned> ranks;
    for (unsigned rank = 0; rank < images_.size(); ++rank)
      if (images_[rank].times.preflight_ms > 0) ranks.push_back(rank);
    return ranks;
  }
  /// The error of rank `rank`, which is an Error.
  template <typename Error>
  [[nodiscard]] Error failure(unsigned rank) const
  {
    if (!failures_[rank]) throw std::runtime_error("rank has no error");
    try {
      std::rethrow_exception(failures_[rank]);
    } catch (Error const& thrown) {
      return thrown;
    }
  }
  [[nodiscard]] bool has_failed(unsigned rank) const { return failures_[rank] != nullptr; }
  fixtures::mailboxes& all() { return all_; }

 private:
  fixtures::mailboxes all_;
  std::vector<linked_image> images_;
  std::vector<std::exception_ptr> failures_;
};

/// Every rank of `ranks` failed with an Error that says the same, which is returned.
template <typename Error>
Error same_failure(job const& ranks)
{
  auto const first = ranks.failure<Error>(0);
  for (unsigned rank = 1; rank < ranks.images().size(); ++rank) {
    auto const other = ranks.failure<Error>(rank);
    EXPECT_STREQ(other.what(), first.what()) << rank;
    EXPECT_EQ(other.details().hint, first.details().hint) << rank;
    EXPECT_EQ(other.details().code.text(), first.details().code.text()) << rank;
    EXPECT_EQ(other.where(), first.where()) << rank;
  }
  return first;
}

}  // namespace

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

TEST(LinkOnce, ARankThatDoesNotCallIsNamed)
{
  job ranks(8);
  auto const failures = fixtures::run_ranks(ranks.all(), [](fixtures::thread_channel& channel) {
    if (channel.rank() == 3) return;
    linker links;
    auto const task = task_of("transform.fatbin");
    (void)link_once(channel, links, task.inputs, task.options, {.wait_limit = 1s});
  });
  for (unsigned rank = 0; rank < 8; ++rank) {
    if (rank == 3) continue;
    try {
      std::rethrow_exception(failures[rank]);
    } catch (rank_error const& failure) {
      EXPECT_STREQ(failure.what(),
                   "no answer from rank 3: its call of link_once is missing (limit of each step: "
                   "1 s)");
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
    auto const task = task_of("transform.fatbin");
    ending_channel end(all, channel.rank(), number);
    auto& ranks = channel.rank() == ending ? static_cast<rank_channel&>(end) : channel;
    try {
      (void)link_once(ranks, links, task.inputs, task.options, {.wait_limit = 1s});
    } catch (rank_error const& failure) {
      texts[channel.rank()] = failure.what();
    }
  });
  return texts;
}

}  // namespace

TEST(LinkOnce, ARankThatEndsBeforeItHasTheImageIsNamed)
{
  for (unsigned const ending : {3U, 4U}) {  // 4 has children that wait for it
    auto const texts = errors_without(ending, 2, 8);
    for (unsigned rank = 0; rank < 8; ++rank) {
      if (rank == ending) continue;
      EXPECT_EQ(texts[rank], "no answer from rank " + std::to_string(ending) +
                                 ": its confirmation of the image is missing (limit of each step: "
                                 "1 s)")
          << rank;
    }
  }
}

TEST(LinkOnce, IfRankZeroEndsItIsNamed)
{
  for (auto const& [number, missing] :
       {std::pair{1, "the assignment of links"}, {8, "the verdict"}}) {
    auto const texts = errors_without(0, number, 8);
    for (unsigned rank = 1; rank < 8; ++rank)
      EXPECT_EQ(texts[rank], std::string("no answer from rank 0: ") + missing +
                                 " is missing (limit of each step: 1 s)");
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

TEST(LinkOnce, OneRankNeedsNoMessages)
{
  job ranks(1);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); });
  EXPECT_FALSE(ranks.has_failed(0));
  EXPECT_EQ(ranks.images()[0].parts.size(), 2U);
}

TEST(LinkOnce, ALimitOfZeroIsRefused)
{
  job ranks(1);
  ranks.run([](unsigned /*rank*/) { return task_of("transform.fatbin"); }, 0ms);
  EXPECT_STREQ(ranks.failure<usage_error>(0).what(), "a limit of 0 ms for other ranks");
}

TEST(LinkOnce, ALateRankGetsTheErrorAndTheNextCallWorks)
{
  job ranks(4);
  auto const task = [](unsigned rank) {
    if (rank == 3) std::this_thread::sleep_for(2500ms);
    return task_of("transform.fatbin");
  };
  ranks.run(task, 1s);
  EXPECT_THAT(same_failure<rank_error>(ranks).ranks(), testing::ElementsAre(3));
  ranks.run(task);
  for (unsigned rank = 0; rank < 4; ++rank) EXPECT_FALSE(ranks.has_failed(rank)) << rank;
}

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
