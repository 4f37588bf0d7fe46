// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/block.hpp"

#include <gtest/gtest.h>

namespace fatlink::interpreter {

TEST(LaunchActivity, IsIdleOnceEveryBlockHasOnlyWaited)
{
  launch_activity activity;
  activity.add(2);
  EXPECT_FALSE(activity.is_idle());
  activity.confirm(activity.epoch());
  EXPECT_FALSE(activity.is_idle());
  activity.confirm(activity.epoch());
  EXPECT_TRUE(activity.is_idle());
}

TEST(LaunchActivity, IsNotIdleAfterAChange)
{
  launch_activity activity;
  activity.add(1);
  activity.confirm(activity.epoch());
  activity.change();
  EXPECT_FALSE(activity.is_idle());
}

TEST(LaunchActivity, IgnoresWaitsThatBeganBeforeTheLastChange)
{
  launch_activity activity;
  activity.add(1);
  auto const begin = activity.epoch();
  activity.change();
  activity.confirm(begin);
  EXPECT_FALSE(activity.is_idle());
}

TEST(LaunchActivity, IsNotIdleWhileABlockStarts)
{
  launch_activity activity;
  activity.add(1);
  activity.confirm(activity.epoch());
  activity.add(1);
  activity.confirm(activity.epoch());
  EXPECT_FALSE(activity.is_idle());
}

TEST(LaunchActivity, DoesNotWaitForBlocksThatHaveEnded)
{
  launch_activity activity;
  activity.add(2);
  activity.remove(1);
  activity.confirm(activity.epoch());
  EXPECT_TRUE(activity.is_idle());
}

}  // namespace fatlink::interpreter
