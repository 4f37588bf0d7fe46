// SPDX-License-Identifier: Apache-2.0
// The arguments of algorithm_bench, and its table of recorded times.
#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "bench/algorithms/bench_options.hpp"
#include "bench/algorithms/case_times.hpp"

using namespace algorithm_bench;

namespace {

void expect_refused_arguments(std::vector<std::string> const& words, char const* says)
{
  try {
    (void)read_options(words);
    ADD_FAILURE() << "no error; expected one that says: " << says;
  } catch (std::invalid_argument const& refusal) {
    EXPECT_THAT(refusal.what(), testing::HasSubstr(says));
  }
}

}  // namespace

TEST(AlgorithmBench, MeasuresTwoSizesByDefault)
{
  auto const options = read_options({"share/fatlink"});
  EXPECT_EQ(options.data, "share/fatlink");
  EXPECT_EQ(options.elements, (std::vector<std::size_t>{1U << 20, 1U << 28}));
  EXPECT_EQ(options.rounds, 30);
  EXPECT_FALSE(options.only_check);
}

TEST(AlgorithmBench, ReadsItsOptions)
{
  auto const options =
      read_options({"--check", "data", "--rounds", "5", "--only", "scan", "1000", "8589934592"});
  EXPECT_TRUE(options.only_check);
  EXPECT_EQ(options.rounds, 5);
  EXPECT_EQ(options.only, "scan");
  EXPECT_EQ(options.elements, (std::vector<std::size_t>{1000, 8589934592}));
}

TEST(AlgorithmBench, RefusesWrongArguments)
{
  expect_refused_arguments({}, "name the folder of the libraries: share/fatlink");
  expect_refused_arguments({"data", "--round", "3"}, "--round: unknown option; there are --check");
  expect_refused_arguments({"data", "--rounds"}, "--rounds: has no value");
  expect_refused_arguments({"data", "--rounds", "0"},
                           "--rounds 0: expected a whole number of 1 or more");
  expect_refused_arguments({"data", "1e6"}, "ELEMENTS 1e6: expected a whole number of 1 or more");
  expect_refused_arguments({"data", "18446744073709551616"}, "expected a whole number");
}

TEST(AlgorithmBench, ShowsRatesAndRatios)
{
  bench_case const tested{.name = "reduce",
                          .kind = cub_calls::algorithm::reduce,
                          .type = cub_calls::element::float32,
                          .library = "reduce_4",
                          .transform = "add_float"};
  case_times times{.cub_us = 200, .lto_us = 100, .ptx_us = 400, .copy_us = 90, .bytes = 4e8};
  EXPECT_EQ(table_row(tested, 1000, times),
            "| reduce | float | 1000 | 200.00 | 100.00 | 400.00 | 4000 | 2.000 | 0.500 | 0.900 | "
            "equal |\n");
  times.differences = 3;
  EXPECT_TRUE(table_row(tested, 1000, times).ends_with("| 3 words differ |\n"));
}

TEST(AlgorithmBench, HasAColumnForEachNumber)
{
  auto const head = table_head();
  auto const row = table_row(bench_cases().front(), 1, {});
  auto const columns = std::count(row.begin(), row.end(), '|');
  EXPECT_EQ(std::count(head.begin(), head.end(), '|'), 2 * columns);
}
