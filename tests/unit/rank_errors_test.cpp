// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_errors.hpp"

#include <gtest/gtest.h>

using namespace fatlink;
using namespace fatlink::detail;

TEST(RankErrors, NameUpToEightRanks)
{
  EXPECT_EQ(name_ranks({3}), "rank 3");
  EXPECT_EQ(name_ranks({3, 5}), "ranks 3 and 5");
  EXPECT_EQ(name_ranks({1, 2, 3, 4, 5, 6, 7, 9}), "ranks 1, 2, 3, 4, 5, 6, 7 and 9");
  EXPECT_EQ(name_ranks({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
            "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 others");
}

TEST(RankErrors, AnImageThatIsTooLargeStatesTheLimit)
{
  auto const record = too_large(3'000'000'000);
  EXPECT_EQ(record.details.message,
            "the image has 3000000000 bytes; one that is sent to other ranks has at most "
            "2147483595");
  EXPECT_TRUE(record.details.code == error_code::above_limit);
  EXPECT_FALSE(record.details.hint.empty());
}
