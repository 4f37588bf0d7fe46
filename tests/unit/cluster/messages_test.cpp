// SPDX-License-Identifier: Apache-2.0
// Messages between ranks: what they carry, and that no other bytes are taken for them.
#include <gmock/gmock.h>

#include <random>

#include "cluster/messages.hpp"
#include "fixtures.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

byte_buffer an_image()
{
  return write_message<linked_image>(message_step::image,
                                     linked_image{.bytes = fixtures::to_bytes("cubin"),
                                                  .parts = {{"a.fatbin", "ptx of a"}, {"b", ""}},
                                                  .kind = image_kind::ptx_set,
                                                  .target = "sm_90a",
                                                  .mode = link_mode::lto,
                                                  .hooks = {{"f", true, false}, {"g", false, true}},
                                                  .warnings = {"first", "second"},
                                                  .cache = cache_outcome::miss,
                                                  .link_ms = 3});
}

byte_buffer an_error()
{
  return write_message<linked_image>(
      message_step::image,
      error_record{.type = error_type::refused,
                   .where = stage::preflight,
                   .details = {"message", "input", vendor_code("missing-hook"), "log", "hint"},
                   .offset = 7,
                   .findings = {{.id = finding_id::missing_hook,
                                 .severity = severity::warning,
                                 .files = {"a", "b"},
                                 .symbol = "f",
                                 .message = "says",
                                 .hint = "do"},
                                {.id = finding_ids().back(), .severity = severity::error}},
                   .ranks = {3, 5}});
}

outcome<linked_image> read_image(bytes_view message)
{
  return read_message<linked_image>(message, message_step::image, 2);
}

/// Whether `message` is read as one that cannot be used.
bool is_refused(bytes_view message)
{
  auto const result = read_image(message);
  auto const* const failure = std::get_if<error_record>(&result);
  return failure != nullptr && failure->details.code == error_code::invalid_message;
}

/// `message` with the checksum of its changed content.
byte_buffer sealed(byte_buffer message)
{
  auto const content = bytes_view(message).first(message.size() - 32);
  auto const check = sha256(content);
  std::copy(check.begin(), check.end(), message.end() - 32);
  return message;
}

byte_buffer with_byte(byte_buffer message, std::size_t offset, int value)
{
  message.at(offset) = static_cast<std::byte>(value);
  return sealed(std::move(message));
}

}  // namespace

TEST(RankMessages, CarryAnImageWithoutItsTimes)
{
  auto const image = std::get<linked_image>(read_image(an_image()));
  EXPECT_EQ(image.bytes, fixtures::to_bytes("cubin"));
  ASSERT_EQ(image.parts.size(), 2U);
  EXPECT_EQ(image.parts[0].name + image.parts[0].text + image.parts[1].name, "a.fatbinptx of ab");
  EXPECT_EQ(image.target, target("sm_90a"));
  ASSERT_EQ(image.hooks.size(), 2U);
  EXPECT_STREQ(to_string(image.hooks[0]), "inlined");
  EXPECT_STREQ(to_string(image.hooks[1]), "default");
  EXPECT_THAT(image.warnings, testing::ElementsAre("first", "second"));
  EXPECT_EQ(image.cache, cache_outcome::miss);
  EXPECT_EQ(image.link_ms, 0);
  EXPECT_EQ(write_message<linked_image>(message_step::image, image), an_image());
}

TEST(RankMessages, CarryAnErrorWithItsFindings)
{
  auto const result = read_image(an_error());
  EXPECT_EQ(write_message(message_step::image, result), an_error());
  auto const& finding = std::get<error_record>(result).findings.at(0);
  EXPECT_EQ(finding.id, finding_id::missing_hook);
  EXPECT_THAT(finding.files, testing::ElementsAre("a", "b"));
  EXPECT_EQ(finding.symbol + finding.message + finding.hint, "fsaysdo");
}

TEST(RankMessages, CarryMoreThan4096Warnings)
{
  linked_image const image{.warnings = std::vector<std::string>(5000, "warning")};
  auto const message = write_message<linked_image>(message_step::image, image);
  EXPECT_EQ(std::get<linked_image>(read_image(message)).warnings, image.warnings);
}

TEST(RankMessages, OfAnotherStepAreRefused)
{
  EXPECT_TRUE(is_refused(write_message<std::monostate>(message_step::verdict, std::monostate{})));
}

TEST(RankMessages, WithAnyChangedByteAreRefused)
{
  for (auto const& good : {an_image(), an_error()})
    for (std::size_t offset = 0; offset < good.size(); ++offset) {
      auto bad = good;
      bad[offset] ^= std::byte{0x40};
      EXPECT_TRUE(is_refused(bad)) << offset;
    }
}

TEST(RankMessages, ThatAreTruncatedOrLongerAreRefused)
{
  for (auto const& good : {an_image(), an_error()}) {
    for (std::size_t size = 0; size < good.size(); ++size) {
      EXPECT_TRUE(is_refused(bytes_view(good).first(size))) << size;
      if (size < 32) continue;
      EXPECT_TRUE(is_refused(sealed({good.data(), good.data() + size}))) << size;
    }
    auto longer = good;
    longer.push_back(std::byte{0});
    EXPECT_TRUE(is_refused(sealed(longer)));
  }
}

TEST(RankMessages, WithUnknownEnumeratorsAndCountsAreRefused)
{
  // Offsets in an image: whether it is one, kind, mode, cache, target's suffix, count of hooks.
  for (std::size_t const offset : {12U, 16U, 20U, 24U, 32U, 39U})
    EXPECT_TRUE(is_refused(with_byte(an_image(), offset, 99))) << offset;
  for (std::size_t const offset : {16U, 20U})  // of an error: type and stage
    EXPECT_TRUE(is_refused(with_byte(an_error(), offset, 99))) << offset;
}

TEST(RankMessages, OfAnyContentAreReadOrRefused)
{
  std::mt19937 generator(1);
  std::size_t refused = 0;
  for (auto const& good : {an_image(), an_error()})
    for (int round = 0; round < 20'000; ++round) {
      auto bytes = good;
      for (auto changes = 1 + generator() % 3; changes > 0; --changes)
        bytes[12 + generator() % (bytes.size() - 44)] = static_cast<std::byte>(generator());
      if (is_refused(sealed(std::move(bytes)))) ++refused;
    }
  EXPECT_GT(refused, 10'000U);
}
