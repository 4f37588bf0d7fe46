// SPDX-License-Identifier: Apache-2.0
// The algorithms that are compared, with the libraries and transforms that compute what CUB does.
#pragma once

#include <string>
#include <vector>

#include "cub_calls.hpp"

namespace algorithm_bench {

struct bench_case {
  std::string name;  ///< of the row
  cub_calls::algorithm kind;
  cub_calls::element type;
  std::string library;
  std::string transform;
  std::size_t segment = 0;  ///< mean elements of a segment
};

/// In the order of the table.
inline std::vector<bench_case> bench_cases()
{
  using cub_calls::algorithm;
  auto const number = cub_calls::element::float32;
  auto const pair = cub_calls::element::pair;
  std::vector<bench_case> cases{
      {"reduce", algorithm::reduce, number, "reduce_4", "add_float"},
      {"reduce", algorithm::reduce, pair, "reduce_8", "argmax"},
      {"transform_reduce", algorithm::transform_reduce, number, "transform_reduce_4",
       "sum_squares"},
      {"scan", algorithm::scan, number, "scan_4", "add_float"},
      {"scan", algorithm::scan, pair, "scan_8", "argmax"},
      {"exclusive_scan", algorithm::exclusive_scan, number, "exclusive_scan_4", "add_float"},
      {"exclusive_scan", algorithm::exclusive_scan, pair, "exclusive_scan_8", "argmax"},
      {"select", algorithm::select, number, "select_4", "positive_float"},
      {"select", algorithm::select, pair, "select_8", "score_above"},
  };
  for (std::size_t const segment : {16, 1'000, 1'000'000}) {
    auto const name = "segmented_reduce, " + std::to_string(segment);
    auto const kind = algorithm::segmented_reduce;
    cases.push_back({name, kind, number, "segmented_reduce_4", "add_float", segment});
    cases.push_back({name, kind, pair, "segmented_reduce_8", "argmax", segment});
  }
  cases.push_back({"histogram", algorithm::histogram, number, "histogram_4", "uniform_bins"});
  cases.push_back({"histogram", algorithm::histogram, pair, "histogram_8", "grid_bins"});
  cases.push_back({"map", algorithm::map, number, "map1", "scale_add"});
  cases.push_back({"map", algorithm::map, pair, "map2", "multiply_complex"});
  cases.push_back({"sort", algorithm::sort, number, "sort_4", "less_float"});
  cases.push_back({"sort", algorithm::sort, pair, "sort_8", "less_pair"});
  cases.push_back(
      {"radix_sort", algorithm::radix_sort, number, "radix_sort_4", "ascending_float32"});
  cases.push_back({"radix_sort", algorithm::radix_sort, pair, "radix_sort_8", "by_value"});
  return cases;
}

}  // namespace algorithm_bench
