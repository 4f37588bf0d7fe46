// SPDX-License-Identifier: Apache-2.0
#include "detail/nearest.hpp"

#include <gtest/gtest.h>

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
