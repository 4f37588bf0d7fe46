// SPDX-License-Identifier: Apache-2.0
#include "live/live_swap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace fatlink;

TEST(KeptArguments, OutliveTheNamesAndLargeValuesOfTheCaller)
{
  using large_value = std::array<int, 12>;
  static_assert(sizeof(large_value) > call_argument::k_inline_bytes);
  auto name = std::make_unique<std::string>("a_name_that_is_longer_than_a_short_string");
  auto value = std::make_unique<large_value>();
  value->fill(7);
  std::vector<call_argument> const arguments{{*name, *value}, {"n", 5}};
  detail::kept_arguments const kept(arguments);
  name->assign(name->size(), 'x');
  value->fill(8);
  ASSERT_EQ(kept.get().size(), 2U);
  EXPECT_EQ(kept.get()[0].name(), "a_name_that_is_longer_than_a_short_string");
  large_value copy{};
  std::memcpy(copy.data(), kept.get()[0].value(), sizeof copy);
  EXPECT_EQ(copy[11], 7);
  EXPECT_EQ(kept.get()[0].element_bytes(), sizeof copy);
  int number = 0;
  std::memcpy(&number, kept.get()[1].value(), sizeof number);
  EXPECT_EQ(number, 5);
}
