// SPDX-License-Identifier: Apache-2.0
// Contracts and libraries for elements of one size, by their names.
#include "preflight/contracts.hpp"

#include <gtest/gtest.h>

using namespace fatlink::detail;

TEST(SizedContracts, EndInASize)
{
  auto const sized = split_size("load_combine_16");
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->base, "load_combine");
  EXPECT_EQ(sized->bytes, "16");
  for (auto const* name :
       {"", "_4", "combine", "combine_", "combine_4x", "map1", "apply_transform"})
    EXPECT_FALSE(split_size(name)) << name;
}

TEST(SizedContracts, DifferInSizeIfTheRestIsEqual)
{
  EXPECT_TRUE(differ_in_size("combine_4", "combine_8"));
  EXPECT_FALSE(differ_in_size("combine_4", "combine_4"));
  EXPECT_FALSE(differ_in_size("combine_4", "keep_8"));
  EXPECT_FALSE(differ_in_size("combine", "combine_8"));
}

TEST(SizedContracts, NameTheLibraryOfAnotherSize)
{
  EXPECT_EQ(library_of_size("/share/sort_pairs_4.fatbin", "less_32"), "sort_pairs_32");
  EXPECT_EQ(library_of_size("mine.fatbin", "less_32"), "");
  EXPECT_EQ(library_of_size("sort_4.fatbin", "less"), "");
}
