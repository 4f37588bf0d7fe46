// SPDX-License-Identifier: Apache-2.0
#include "fatlink/image.hpp"

#include <gtest/gtest.h>

using namespace fatlink;

TEST(Image, WithoutHooksHasInlinedNothing)
{
  EXPECT_FALSE(linked_image{}.inlined());
}
