// SPDX-License-Identifier: Apache-2.0
#include "util/text/nearest.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace fatlink::detail;

TEST(Nearest, CountsInsertionsRemovalsReplacementsAndSwaps)
{
  EXPECT_EQ(edit_distance("run", "run"), 0U);
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);
  EXPECT_EQ(edit_distance("runs", "run"), 1U);
  EXPECT_EQ(edit_distance("rn", "run"), 1U);
  EXPECT_EQ(edit_distance("ran", "run"), 1U);
  EXPECT_EQ(edit_distance("", "run"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, OffersNothingThatIsUnlike)
{
  EXPECT_EQ(nearest({"run", "link", "list"}, "rnu"), "run");
  EXPECT_EQ(nearest({"run", "link", "list"}, "lsit"), "list");
  EXPECT_EQ(nearest({"run", "link", "list"}, "xyzzy"), "");
}

TEST(Nearest, AgreesWithAComparisonOfWholeTables)
{
  std::minstd_rand random(5);
  auto const word = [&] {
    std::string text;
    for (auto size = random() % 9; size > 0; --size)
      text += static_cast<char>('a' + static_cast<char>(random() % 3));
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> const names{word(), word(), word(), word()};
    auto const wanted = word();
    std::string_view best;
    auto least = wanted.size() / 2 + 1;
    for (auto const& name : names)
      if (auto const distance = edit_distance(name, wanted); distance < least) {
        least = distance;
        best = name;
      }
    name_search search({names.begin(), names.end()}, name_search::prefixes::are_compared);
    ASSERT_EQ(search.nearest(wanted), best) << wanted << " among " << testing::PrintToString(names);
  }
}

TEST(Nearest, SearchesShareAFixedAmountOfWork)
{
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back(std::to_string(i) + std::string(200, 'x'));
  name_search search({names.begin(), names.end()}, name_search::prefixes::are_compared);
  EXPECT_EQ(search.nearest(names[7]), names[7]);
  std::size_t searches = 0;
  for (; searches < names.size() && search.work_left() > 100'000; ++searches)
    (void)search.nearest(std::string(200, 'y'));
  EXPECT_LT(searches, 100U) << "more than 2^24 cells";
  for (std::size_t i = 0; i < 1000; ++i) (void)search.nearest(names[i]);
  EXPECT_EQ(search.nearest("0yxxx"), "") << "found without work to spend";
}

TEST(Nearest, FindsAPrefixWithoutWork)
{
  std::vector<std::string_view> const names{"zeta", "_Z4hookf", "_Z5hookf", "alpha"};
  name_search const search(names, name_search::prefixes::are_compared, 0);
  EXPECT_EQ(search.find_prefix("_Z4hook"), "_Z4hookf");
  EXPECT_EQ(search.find_prefix("_Z6"), "");
}
