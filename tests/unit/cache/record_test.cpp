// SPDX-License-Identifier: Apache-2.0
// Records of links and compiles, and the switch of offline mode.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "cache/offline.hpp"
#include "cache/record.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/error.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::cache;

namespace {

class Record : public testing::Test {
 protected:
  fixtures::folder folder_;
  std::filesystem::path file_ = folder_.path() / "record";
  fixtures::variable variable_{k_record_variable, file_.string()};
};

}  // namespace

TEST_F(Record, HoldsEveryEntryOnce)
{
  EXPECT_TRUE(is_recording());
  for (auto const* name : {"first", "second\n", "first"}) append_record({{"name", name}});
  std::ofstream(file_, std::ios::app) << R"({"name":"first"})" << '\n';  // of another process
  EXPECT_EQ(read_record(file_),
            (std::vector<nlohmann::json>{{{"name", "first"}}, {{"name", "second\n"}}}));
}

TEST_F(Record, HoldsWholeLinesOfManyThreads)
{
  constexpr int k_threads = 8;
  constexpr std::size_t k_bytes = 100'000;  // more than one write of a pipe or a page
  std::vector<std::thread> threads;
  for (int number = 0; number < k_threads; ++number)
    threads.emplace_back([number] {
      append_record({{"number", number}, {"text", std::string(k_bytes, 'x')}});
    });
  for (auto& thread : threads) thread.join();
  std::vector<bool> found(k_threads);
  for (auto const& entry : read_record(file_))
    found.at(entry.at("number").get<std::size_t>()) = true;
  EXPECT_EQ(found, std::vector<bool>(k_threads, true));
}

TEST_F(Record, RefusesLinesThatAreNoObjects)
{
  std::ofstream(file_) << "{}\n[1]\n";
  expect_error<file_error>([&] { (void)read_record(file_); }, "line 2 is not a JSON object");
  std::ofstream(file_) << std::string(1000, '[') << '\n';
  expect_error<file_error>([&] { (void)read_record(file_); }, "line 1 is not a JSON object");
}

TEST_F(Record, ReadsTheBytesThatItWrites)
{
  byte_buffer bytes;
  for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<std::byte>(value));
  EXPECT_EQ(from_digits(to_digits(bytes)), bytes);
  expect_error<file_error>([] { (void)from_digits("0g"); }, "not hexadecimal digits");
  expect_error<file_error>([] { (void)from_digits("012"); }, "not hexadecimal digits");
}

TEST(Recording, IsOffWithoutAFile)
{
  fixtures::variable const none(k_record_variable, "");
  EXPECT_FALSE(is_recording());
}

TEST(OfflineMode, IsOnBySettingOrVariable)
{
  for (auto const& [text, is_on] : {std::pair("", false), {"0", false}, {"1", true}}) {
    fixtures::variable const variable("FATLINK_OFFLINE", text);
    EXPECT_EQ(is_offline(false), is_on) << text;
    EXPECT_TRUE(is_offline(true)) << text;
  }
}

TEST(OfflineMode, RefusesOtherValues)
{
  for (auto const* text : {"yes", "2", " 1"}) {
    fixtures::variable const variable("FATLINK_OFFLINE", text);
    expect_error<usage_error>([] { (void)is_offline(true); }, "is neither 0 nor 1");
  }
}
