// SPDX-License-Identifier: Apache-2.0
// Collective links: which ranks link, what all of them get, their errors, and ranks that do not
// answer or answer late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

#include "fatlink/format_error.hpp"
#include "fatlink/link_once.hpp"
#include "fatlink/rank_channel.hpp"
#include "fixtures.hpp"
#include "places.hpp"

using namespace fatlink;
using namespace std::chrono_literals;

namespace {

/// The messages of a job that have not been received yet.
class mailboxes {
 public:
  explicit mailboxes(unsigned ranks) : size_(ranks) {}

  [[nodiscard]] unsigned size() const { return size_; }
  void put(unsigned source, unsigned destination, fatlink::bytes_view bytes)
  {
    std::lock_guard const lock(mutex_);
    boxes_[{source, destination}].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  std::optional<fatlink::byte_buffer> take(unsigned source, unsigned destination,
                                           fatlink::rank_channel::time_point deadline)
  {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{source, destination}];
    if (!arrived_.wait_until(lock, deadline, [&] { return !box.empty(); })) return std::nullopt;
    auto message = std::move(box.front());
    box.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<unsigned, unsigned>, std::deque<fatlink::byte_buffer>> boxes_;
  unsigned size_;
};

/// A rank's end of the mailboxes.
class thread_channel : public fatlink::rank_channel {
 public:
  thread_channel(mailboxes& all, unsigned rank) : all_(all), rank_(rank) {}

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return all_.size(); }
  void send(std::vector<fatlink::rank_message> const& messages, time_point /*deadline*/) override
  {
    for (auto const& message : messages) all_.put(rank_, message.destination, message.bytes);
  }
  std::optional<fatlink::byte_buffer> receive(unsigned source, time_point deadline) override
  {
    return all_.take(source, rank_, deadline);
  }

 private:
  mailboxes& all_;
  unsigned rank_;
};

/// Calls `work` for each rank, in threads that run at the same time. What each of them threw, null
/// for ranks that returned.
std::vector<std::exception_ptr> run_ranks(mailboxes& all,
                                          std::function<void(thread_channel&)> const& work)
{
  std::vector<std::exception_ptr> failures(all.size());
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < all.size(); ++rank)
    threads.emplace_back([&, rank] {
      try {
        thread_channel channel(all, rank);
        work(channel);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  return failures;
}

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
  void run(task_of_rank const& task, std::chrono::milliseconds limit = std::chrono::minutes(1))
  {
    failures_ = run_ranks(all_, [&](thread_channel& channel) {
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
  mailboxes& all() { return all_; }

 private:
  mailboxes all_;
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

TEST(LinkOnce, LinkersWithOtherSettingsAreLinkedFor)
{
  linker_settings const common{.isolation = isolation::helper};
  auto others = std::vector(3, common);
  others[0].allow_unconfined = !common.allow_unconfined;
  others[1].isolation = isolation::in_process;
  others[2].nvjitlink = "/absent/libnvJitLink.so";
  for (auto const& other : others) {
    mailboxes all(2);
    std::vector<linked_image> images(2);
    run_ranks(all, [&](thread_channel& channel) {
      linker links(channel.rank() == 0 ? common : other);
      auto const task = task_of("transform.fatbin");
      images[channel.rank()] = link_once(channel, links, task.inputs, task.options);
    });
    for (auto const& image : images) EXPECT_GT(image.times.preflight_ms, 0);
  }
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

// Errors of a collective link, which all ranks get.

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

TEST(LinkOnce, ALinkWithoutNvjitlinkIsTheSameErrorOnAllRanks)
{
  auto task = task_of("transform.fatbin");
  task.options = {.target = "sm_90"};
  mailboxes all(4);
  std::vector<std::string> texts(4);
  run_ranks(all, [&](thread_channel& channel) {
    linker links({.nvjitlink = "/absent/libnvJitLink.so"});
    try {
      (void)link_once(channel, links, task.inputs, task.options);
    } catch (unavailable_error const& failure) {
      texts[channel.rank()] = failure.what();
    }
  });
  EXPECT_THAT(texts, testing::Each(testing::AllOf(testing::HasSubstr("/absent/libnvJitLink.so"),
                                                  testing::Eq(texts[0]))));
}

TEST(LinkOnce, AnExceptionOfTheCallerNamesTheLowestRank)
{
  job ranks(4);
  ranks.run([](unsigned rank) -> link_task {
    if (rank >= 2) throw std::runtime_error("the disk is gone");
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
class damaging_channel : public thread_channel {
 public:
  damaging_channel(mailboxes& all, unsigned rank, std::size_t offset)
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
  mailboxes all(4);
  std::vector<std::string> texts(4);
  run_ranks(all, [&](thread_channel& channel) {
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

// Ranks that do not answer in a collective link, or answer late: the others name them.

TEST(LinkOnce, ARankThatDoesNotCallIsNamed)
{
  job ranks(8);
  auto const start = std::chrono::steady_clock::now();
  auto const failures = run_ranks(ranks.all(), [](thread_channel& channel) {
    if (channel.rank() == 3) return;
    linker links;
    auto const task = task_of("transform.fatbin");
    (void)link_once(channel, links, task.inputs, task.options, {.wait_limit = 500ms});
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 6 * 500ms);
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
class ending_channel : public thread_channel {
 public:
  struct ended {};
  ending_channel(mailboxes& all, unsigned rank, int number)
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
  mailboxes all(size);
  run_ranks(all, [&](thread_channel& channel) {
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
  mailboxes all(12);
  thread_channel channel(all, 0);
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

// prepare_once of ranks that are threads.

namespace {

/// Runs prepare_once on 4 ranks. The errors of those that have one.
std::vector<std::string> prepare_on_ranks(std::string const& library,
                                          std::function<device(unsigned rank)> const& open)
{
  mailboxes all(4);
  std::vector<std::string> texts(4);
  run_ranks(all, [&](thread_channel& channel) {
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
