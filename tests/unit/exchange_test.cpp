// SPDX-License-Identifier: Apache-2.0
#include "cluster/exchange.hpp"

#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "thread_channel.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using namespace std::chrono_literals;

namespace {

std::string reason_against(bytes_view message)
{
  try {
    (void)open_message(message);
    return "";
  } catch (sequence_error const& damage) {
    return damage.what();
  }
}

auto in(std::chrono::milliseconds time)
{
  return std::chrono::steady_clock::now() + time;
}

}  // namespace

TEST(Message, CarriesStepCallAndBody)
{
  auto const message = seal({.step = message_step::image, .call = 9}, fixtures::to_bytes("body"));
  auto const opened = open_message(message);
  EXPECT_EQ(opened.header.step, message_step::image);
  EXPECT_EQ(opened.header.call, 9U);
  EXPECT_EQ(byte_buffer(opened.body.begin(), opened.body.end()), fixtures::to_bytes("body"));
}

TEST(Message, OfAnotherVersionIsRefusedAsSuch)
{
  auto message = seal({}, fixtures::to_bytes("body"));
  message[4] = std::byte{2};
  EXPECT_EQ(reason_against(message), "its version is 2, this fatlink's is 1");
}

TEST(Message, WithAnyChangedByteIsRefused)
{
  auto const good = seal({.step = message_step::verdict, .call = 1}, fixtures::to_bytes("body"));
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    auto bad = good;
    bad[offset] ^= std::byte{0x40};
    EXPECT_NE(reason_against(bad), "") << offset;
  }
}

TEST(Message, ThatIsTruncatedIsRefused)
{
  auto const good = seal({}, fixtures::to_bytes("body"));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(reason_against(bytes_view(good).first(size)), "") << size;
}

TEST(Message, IsRefusedWithItsReason)
{
  auto const good = seal({}, {});
  auto bad = good;
  bad[0] = std::byte{'X'};
  EXPECT_EQ(reason_against(bad), "it is not a message of fatlink");
  for (auto const step : {0, 6}) {
    bad = good;
    bad[8] = static_cast<std::byte>(step);
    EXPECT_EQ(reason_against(bad), "its step is unknown");
  }
  EXPECT_EQ(reason_against(bytes_view(good).first(good.size() - 1)), "it is truncated");
  bad = good;
  bad.back() ^= std::byte{1};
  EXPECT_EQ(reason_against(bad), "its checksum is wrong");
}

TEST(Exchange, DropsMessagesOfEarlierCallsAndSteps)
{
  fixtures::mailboxes all(2);
  fixtures::thread_channel sender(all, 0);
  fixtures::thread_channel receiver(all, 1);
  auto const body = fixtures::to_bytes("body");
  exchange const earlier_call(sender);
  exchange(sender).send(message_step::role, {{1, body}}, in(0ms));
  exchange const receiver_call(receiver);
  exchange second(receiver);
  all.put(0, 1,
          seal({.step = message_step::verdict, .call = 1}, fixtures::to_bytes("earlier call")));
  all.put(0, 1, seal({.step = message_step::image, .call = 2}, fixtures::to_bytes("image")));
  EXPECT_EQ(second.receive(message_step::image, 0, in(0ms)), fixtures::to_bytes("image"));
  EXPECT_EQ(second.receive(message_step::verdict, 0, in(0ms)), std::nullopt);
}

TEST(Exchange, RefusesMessagesOfLaterCallsAndSteps)
{
  for (auto const& header : {rank_message_header{message_step::verdict, 1},
                             rank_message_header{message_step::role, 2}}) {
    fixtures::mailboxes all(2);
    fixtures::thread_channel channel(all, 1);
    exchange first(channel);
    all.put(0, 1, seal(header, {}));
    EXPECT_THROW((void)first.receive(message_step::role, 0, in(0ms)), sequence_error);
  }
}

TEST(Exchange, SendsEachReceiverItsBody)
{
  fixtures::mailboxes all(4);
  fixtures::thread_channel channel(all, 0);
  exchange sender(channel);
  auto const first = fixtures::to_bytes("first");
  auto const second = fixtures::to_bytes("second");
  sender.send(message_step::role, {{1, first}, {2, second}, {3, second}}, in(0ms));
  for (unsigned rank = 1; rank < 4; ++rank) {
    fixtures::thread_channel receiver(all, rank);
    exchange messages(receiver);
    EXPECT_EQ(messages.receive(message_step::role, 0, in(0ms)), rank == 1 ? first : second);
  }
}
