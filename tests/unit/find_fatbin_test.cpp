// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "environment.hpp"
#include "expect_error.hpp"
#include "fatlink/fatbin.hpp"
#include "fixtures.hpp"
#include "places.hpp"

using namespace fatlink;

namespace {

class FindFatbin : public testing::Test {
 protected:
  fixtures::variable search_{"FATLINK_PATH", places::tests() / "fixtures"};
};

}  // namespace

TEST_F(FindFatbin, ByName)
{
  EXPECT_EQ(fatbin::find("transform").name(), places::fixture("transform.fatbin"));
}

TEST_F(FindFatbin, ByFile)
{
  auto const file = places::fixture("transform.fatbin");
  EXPECT_EQ(fatbin::find(file).name(), file);
}

TEST_F(FindFatbin, ATypingErrorNamesASimilarFatbin)
{
  try {
    (void)fatbin::find("tranform");
    ADD_FAILURE() << "found";
  } catch (file_error const& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("tranform: no fatbin of that name"));
    EXPECT_THAT(failure.details().hint, testing::HasSubstr("did you mean transform?"));
    EXPECT_THAT(failure.details().log, testing::HasSubstr(places::tests() / "fixtures"));
  }
}

TEST_F(FindFatbin, AMissingFileIsNamed)
{
  expect_error<file_error>([] { (void)fatbin::find("./absent.fatbin"); }, "./absent.fatbin");
}
