// SPDX-License-Identifier: Apache-2.0
#include "cluster/message_parts.hpp"

#include <gmock/gmock.h>

#include <random>

#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

outcome<linked_image> an_image()
{
  return linked_image{.bytes = fixtures::to_bytes("cubin"),
                      .parts = {{"a.fatbin", "ptx of a"}, {"b.fatbin", ""}},
                      .kind = image_kind::ptx_set,
                      .target = "sm_90a",
                      .mode = link_mode::lto,
                      .hooks = {{"f", true, false}, {"g", false, true}},
                      .warnings = {"first", "second"},
                      .cache = cache_outcome::miss,
                      .link_ms = 3,
                      .times = {.find_ms = 1, .preflight_ms = 2}};
}

outcome<linked_image> an_error()
{
  return error_record{.type = error_type::refused,
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
                      .ranks = {3, 5}};
}

/// The bytes of the first outcome that decodes to the same as `result` are those of `result`.
template <typename Content>
void expect_round_trip(outcome<Content> const& result)
{
  auto const bytes = encode(result);
  EXPECT_EQ(encode(decode<Content>(bytes)), bytes);
}

}  // namespace

TEST(MessageParts, CarryAnImageWithoutItsTimes)
{
  auto const image = std::get<linked_image>(decode<linked_image>(encode(an_image())));
  EXPECT_EQ(image.bytes, fixtures::to_bytes("cubin"));
  ASSERT_EQ(image.parts.size(), 2U);
  EXPECT_EQ(image.parts[0].name + image.parts[0].text + image.parts[1].name,
            "a.fatbinptx of ab.fatbin");
  EXPECT_EQ(image.kind, image_kind::ptx_set);
  EXPECT_EQ(image.target, target("sm_90a"));
  EXPECT_EQ(image.mode, link_mode::lto);
  ASSERT_EQ(image.hooks.size(), 2U);
  EXPECT_STREQ(to_string(image.hooks[0]), "inlined");
  EXPECT_STREQ(to_string(image.hooks[1]), "default");
  EXPECT_EQ(image.hooks[0].name + image.hooks[1].name, "fg");
  EXPECT_THAT(image.warnings, testing::ElementsAre("first", "second"));
  EXPECT_EQ(image.cache, cache_outcome::miss);
  EXPECT_EQ(image.link_ms + image.times.find_ms + image.times.preflight_ms, 0);
}

TEST(MessageParts, CarryAnErrorWithItsFindings)
{
  auto const record = std::get<error_record>(decode<linked_image>(encode(an_error())));
  EXPECT_EQ(record.type, error_type::refused);
  EXPECT_EQ(record.where, stage::preflight);
  EXPECT_EQ(record.details.message + record.details.input + record.details.log +
                record.details.hint + record.details.code.text(),
            "messageinputloghintmissing-hook");
  EXPECT_EQ(record.offset, 7U);
  EXPECT_THAT(record.ranks, testing::ElementsAre(3, 5));
  ASSERT_EQ(record.findings.size(), 2U);
  auto const& finding = record.findings[0];
  EXPECT_EQ(finding.id, finding_id::missing_hook);
  EXPECT_EQ(finding.severity, severity::warning);
  EXPECT_THAT(finding.files, testing::ElementsAre("a", "b"));
  EXPECT_EQ(finding.symbol + finding.message + finding.hint, "fsaysdo");
  EXPECT_EQ(record.findings[1].id, finding_ids().back());
}

TEST(MessageParts, CarryRolesKeysAndStates)
{
  expect_round_trip<tree_role>(tree_role{.parent = 4, .depth = 2, .children = {5, 6}});
  expect_round_trip<digest256>(digest256{std::byte{1}, std::byte{2}});
  expect_round_trip<link_state>(link_state::has_no_image);
  expect_round_trip<std::monostate>(std::monostate{});
}

TEST(MessageParts, CarryMoreThan4096Warnings)
{
  expect_round_trip<linked_image>(
      linked_image{.warnings = std::vector<std::string>(5000, "warning")});
}

TEST(MessageParts, RefuseEveryTruncationAndWhatFollows)
{
  for (auto const& result : {an_image(), an_error()}) {
    auto bytes = encode(result);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW((void)decode<linked_image>(bytes_view(bytes).first(size)), sequence_error)
          << size;
    bytes.push_back(std::byte{0});
    EXPECT_THROW((void)decode<linked_image>(bytes), sequence_error);
  }
}

TEST(MessageParts, RefuseUnknownEnumeratorsAndSuffixes)
{
  // Offsets in an image: outcome, kind, mode, cache, target's number, target's suffix.
  for (std::size_t const offset : {0U, 4U, 8U, 12U, 20U}) {
    auto bytes = encode(an_image());
    bytes[offset] = std::byte{99};
    EXPECT_THROW((void)decode<linked_image>(bytes), sequence_error) << offset;
  }
  for (std::size_t const offset : {4U, 8U}) {  // of an error: type and stage
    auto bytes = encode(an_error());
    bytes[offset] = std::byte{99};
    EXPECT_THROW((void)decode<linked_image>(bytes), sequence_error) << offset;
  }
  auto state = encode(outcome<link_state>(link_state::done));
  for (auto const value : {0, 3}) {
    state[4] = static_cast<std::byte>(value);
    EXPECT_THROW((void)decode<link_state>(state), sequence_error) << value;
  }
}

TEST(MessageParts, RefuseCountsWithoutTheBytesForThem)
{
  auto bytes = encode(an_image());
  std::fill_n(bytes.begin() + 24, 4, std::byte{0xFF});  // the count of hooks
  EXPECT_THROW((void)decode<linked_image>(bytes), sequence_error);
}

TEST(MessageParts, ReadOrRefuseAnyBytes)
{
  std::mt19937 generator(1);
  std::size_t refused = 0;
  for (auto const& result : {an_image(), an_error()})
    for (int round = 0; round < 20'000; ++round) {
      auto bytes = encode(result);
      for (auto changes = 1 + generator() % 3; changes > 0; --changes)
        bytes[generator() % bytes.size()] = static_cast<std::byte>(generator());
      try {
        (void)encode(decode<linked_image>(bytes));
      } catch (sequence_error const&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 10'000U);
}
