// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_tree.hpp"

#include <gmock/gmock.h>

#include <cstddef>

using namespace fatlink;
using namespace fatlink::detail;

namespace {

/// Keys of which each is equal to the others with the same letter.
std::vector<digest256> keys_of(std::string_view letters)
{
  std::vector<digest256> keys;
  for (auto const letter : letters) keys.push_back({static_cast<std::byte>(letter)});
  return keys;
}

}  // namespace

TEST(RankTree, TheLowestRankOfEachKeyLinks)
{
  auto const roles = assign_roles(keys_of("aabab"));
  std::vector<unsigned> linking;
  for (unsigned rank = 0; rank < roles.size(); ++rank)
    if (roles[rank].parent == rank) linking.push_back(rank);
  EXPECT_THAT(linking, testing::ElementsAre(0, 2));
  EXPECT_EQ(roles[3].parent, 0U);
  EXPECT_EQ(roles[4].parent, 2U);
}

TEST(RankTree, ReachesEveryRankOnceFromItsParent)
{
  for (std::size_t count = 1; count <= 70; ++count) {
    auto const roles = assign_roles(keys_of(std::string(count, 'a')));
    std::vector<int> times_reached(count, 0);
    for (unsigned rank = 0; rank < count; ++rank)
      for (auto const child : roles[rank].children) {
        ++times_reached[child];
        EXPECT_EQ(roles[child].parent, rank);
        EXPECT_EQ(roles[child].depth, roles[rank].depth + 1);
      }
    EXPECT_EQ(times_reached[0], 0);
    EXPECT_THAT(std::vector(times_reached.begin() + 1, times_reached.end()), testing::Each(1));
  }
}

TEST(RankTree, HasALogarithmOfTheRanksInDepthAndChildren)
{
  for (auto const& role : assign_roles(keys_of(std::string(1024, 'a')))) {
    EXPECT_LE(role.depth, 10U);
    EXPECT_LE(role.children.size(), 10U);
  }
}

TEST(RankTree, ARankOfItsOwnKeyHasNoChildren)
{
  auto const role = assign_roles(keys_of("ab"))[1];
  EXPECT_EQ(role.parent, 1U);
  EXPECT_EQ(role.depth, 0U);
  EXPECT_THAT(role.children, testing::IsEmpty());
}
