// SPDX-License-Identifier: Apache-2.0
// Errors of a collective link, which all ranks get.
#include <gmock/gmock.h>

#include <new>
#include <stdexcept>
#include <typeinfo>

#include "fatlink/format_error.hpp"
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

namespace {

error_details const k_details{
    .message = "m", .input = "i", .code = vendor_code("c"), .log = "l", .hint = "h"};

/// The error on rank 0 if rank 1 throws `original` before the link; it has the same type.
template <typename Error>
Error on_rank_0(Error const& original)
{
  job ranks(2);
  ranks.run(
      [&](unsigned rank) { return rank == 1 ? throw original : task_of("transform.fatbin"); });
  auto const again = ranks.failure<Error>(0);
  EXPECT_EQ(typeid(again), typeid(original)) << typeid(again).name();
  EXPECT_EQ(again.where(), original.where());
  auto const& details = again.details();
  EXPECT_EQ(details.message + details.input + details.code.text() + details.log + details.hint,
            "rank 1: miclh");
  return again;
}

/// The error on rank 0 of an exception that is not fatlink's.
template <typename Exception>
error_details of_foreign(Exception const& original)
{
  job ranks(2);
  ranks.run(
      [&](unsigned rank) { return rank == 1 ? throw original : task_of("transform.fatbin"); });
  return ranks.failure<error>(0).details();
}

}  // namespace

TEST(LinkOnce, ErrorsOfOtherRanksKeepTypeStageAndDetails)
{
  (void)on_rank_0(error(stage::cache, k_details));
  (void)on_rank_0(usage_error(k_details));
  (void)on_rank_0(file_error(stage::input, k_details));
  (void)on_rank_0(link_error(stage::linker, k_details));
  (void)on_rank_0(compile_error(stage::compiler, k_details));
  (void)on_rank_0(device_error(stage::device, k_details));
  (void)on_rank_0(unavailable_error(stage::linker, k_details));
}

TEST(LinkOnce, ErrorsOfOtherRanksKeepWhatTheirTypesAdd)
{
  EXPECT_EQ(on_rank_0(format_error(stage::fatbin, 12, k_details)).offset(), 12U);
  EXPECT_THAT(on_rank_0(rank_error({2, 3}, k_details)).ranks(), testing::ElementsAre(2, 3));
  auto const again = on_rank_0(refused_error(k_details, {{.symbol = "f"}}));
  ASSERT_EQ(again.findings().size(), 1U);
  EXPECT_EQ(again.findings()[0].symbol, "f");
}

TEST(LinkOnce, AnErrorOfADerivedTypeIsOneOfTheNearestType)
{
  struct special_error : link_error {
    using link_error::link_error;
  };
  job ranks(2);
  ranks.run([&](unsigned /*rank*/) -> link_task { throw special_error(stage::linker, k_details); });
  EXPECT_EQ(same_failure<link_error>(ranks).details().hint, "h");
}

TEST(LinkOnce, OtherExceptionsHaveACode)
{
  auto const number = of_foreign(3);
  EXPECT_EQ(number.message, "rank 1: an exception without a text");
  EXPECT_TRUE(number.code == "rank-failed");
  auto const memory = of_foreign(std::bad_alloc());
  EXPECT_EQ(memory.message, "rank 1: there is not enough memory");
  EXPECT_TRUE(memory.code == error_code::out_of_memory);
  for (auto const& details : {number, memory}) EXPECT_FALSE(details.hint.empty());
}

namespace {

/// Changes a byte of each message that it sends.
class damaging_channel : public fixtures::thread_channel {
 public:
  damaging_channel(fixtures::mailboxes& all, unsigned rank, std::size_t offset)
      : thread_channel(all, rank), offset_(offset)
  {
  }
  void send(std::vector<rank_message> const& messages, time_point deadline) override
  {
    for (auto const& [destination, bytes] : messages) {
      byte_buffer damaged(bytes.begin(), bytes.end());
      damaged.at(offset_) ^= std::byte{8};
      thread_channel::send({{destination, damaged}}, deadline);
    }
  }

 private:
  std::size_t offset_;
};

/// The errors of ranks of which number `damaging` changes the byte at `offset` of its messages.
std::vector<std::string> errors_with_damage(unsigned damaging, std::size_t offset)
{
  fixtures::mailboxes all(4);
  std::vector<std::string> texts(4);
  fixtures::run_ranks(all, [&](fixtures::thread_channel& channel) {
    linker links;
    auto const task = task_of("transform.fatbin");
    damaging_channel damage(all, channel.rank(), offset);
    auto& ranks = channel.rank() == damaging ? static_cast<rank_channel&>(damage) : channel;
    try {
      (void)link_once(ranks, links, task.inputs, task.options);
    } catch (rank_error const& failure) {
      texts[channel.rank()] = failure.what();
      EXPECT_TRUE(failure.details().code == "invalid-message");
      EXPECT_THAT(failure.ranks(), testing::ElementsAre(damaging));
    }
  });
  return texts;
}

}  // namespace

TEST(LinkOnce, AMessageThatIsDamagedNamesTheRank)
{
  std::string const start = "the message of rank 2 cannot be used: ";
  EXPECT_THAT(errors_with_damage(2, 0), testing::Each(start + "it is not a message of fatlink"));
  EXPECT_THAT(errors_with_damage(2, 4),
              testing::Each(start + "its version is 9, this fatlink's is 1"));
  for (std::size_t const offset : {8, 20, 60})  // step, key, checksum
    EXPECT_THAT(errors_with_damage(2, offset), testing::Each(start + "its checksum is wrong"));
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
