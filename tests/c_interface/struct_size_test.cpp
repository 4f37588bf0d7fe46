// SPDX-License-Identifier: Apache-2.0
// Structs of callers that were compiled with older or newer headers.
#include <array>
#include <cstdint>

#include "c_interface/structs.hpp"
#include "c_interface_fixture.hpp"

using namespace fatlink;
using fixtures::fail_usage;
using fixtures::succeed;

namespace {

/// A struct of version 1.1, which has one member more than that of 1.0.
struct options {
  std::size_t size;
  std::uint64_t first;
  std::uint64_t second;
};

/// The same of version 1.2.
struct newer_options {
  options known;
  std::uint64_t third;
};

}  // namespace

template <>
constexpr std::size_t c::k_first_size<options> = 16;

namespace {

/// Sizes of structs that were not initialized.
constexpr std::array<std::size_t, 6> k_garbage{0, 15, 17, 4104, SIZE_MAX, std::size_t{1} << 47U};

/// What the library reads of `given`.
template <typename Given>
options read(Given const& given)
{
  options result = {};
  succeed(c::guarded(
      [&] { result = c::required_struct(reinterpret_cast<options const*>(&given), "options"); }));
  return result;
}

}  // namespace

TEST(StructSize, OlderStructsLackMembers)
{
  options const given{.size = 16, .first = 1, .second = 2};
  EXPECT_EQ(read(given).first, 1U);
  EXPECT_EQ(read(given).second, 0U);
}

TEST(StructSize, NewerStructsMayHaveZeros)
{
  newer_options const given{{.size = sizeof(newer_options), .first = 1, .second = 2}, 0};
  EXPECT_EQ(read(given).second, 2U);
}

TEST(StructSize, NewerMembersAreRefused)
{
  newer_options const given{{.size = sizeof(newer_options), .first = 1, .second = 2}, 3};
  fail_usage(c::guarded([&] { (void)c::required_struct(&given.known, "options"); }),
             "options has 32 bytes, of which this version of fatlink knows 24; the others are not "
             "0");
}

TEST(StructSize, SizesThatWereNotSetAreRefused)
{
  for (auto const size : k_garbage)
    fail_usage(c::guarded([&] {
                 options const given{.size = size, .first = 1, .second = 2};
                 (void)c::required_struct(&given, "options");
               }),
               "the size of options is " + std::to_string(size) +
                   "; it must be a multiple of 8 from 16 to 4096");
}

TEST(StructSize, OptionalStructsAreZeroByDefault)
{
  EXPECT_EQ(c::optional_struct<options>(nullptr, "options").first, 0U);
}

TEST(StructSize, OlderStructsAreNotFilledPastTheirEnd)
{
  options target{.size = 16, .first = 0, .second = 7};
  c::struct_output(&target, "target").set({.size = sizeof(options), .first = 1, .second = 2});
  EXPECT_EQ(target.size, 16U);
  EXPECT_EQ(target.first, 1U);
  EXPECT_EQ(target.second, 7U);
}

TEST(StructSize, NewerMembersAreFilledWithZeros)
{
  newer_options target{{.size = sizeof(newer_options), .first = 0, .second = 0}, 7};
  c::struct_output(&target.known, "target").set({.size = sizeof(options), .first = 1, .second = 2});
  EXPECT_EQ(target.known.size, sizeof(newer_options));
  EXPECT_EQ(target.known.second, 2U);
  EXPECT_EQ(target.third, 0U);
}

TEST(StructSize, OutputsWithoutSizeAreRefused)
{
  options target = {};
  fail_usage(c::guarded([&] { c::struct_output(&target, "target").set({}); }),
             "the size of target is 0");
  fail_usage(c::guarded([&] { c::struct_output<options>(nullptr, "target").set({}); }),
             "target is NULL");
}

TEST(StructSize, OutputsWithGarbageAsSizeAreNotFilled)
{
  for (auto const size : k_garbage) {
    std::array<newer_options, 2> target{};
    target[0].known = {.size = size, .first = 5, .second = 6};
    target[1].third = 7;
    fail_usage(c::guarded([&] { c::struct_output(&target[0].known, "target").set({}); }),
               "the size of target is " + std::to_string(size) + ";");
    EXPECT_EQ(target[0].known.first, 5U);
    EXPECT_EQ(target[0].known.second, 6U);
    EXPECT_EQ(target[1].third, 7U);
  }
}
