// SPDX-License-Identifier: Apache-2.0
// The algorithms that are compared, with the libraries and transforms that compute what CUB does.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cub_calls.hpp"

namespace algorithm_bench {

struct bench_case {
  std::string name;  ///< of the row
  cub_calls::algorithm kind;
  cub_calls::element type;
  std::string library;
  std::string transform;
  std::size_t segment = 0;         ///< mean elements of a segment, or of a run of equal keys
  std::string key_transform = {};  ///< the second transform of a library that has two hooks
  std::size_t first = 0;           ///< elements of merge's first array; 0: half of all
  std::size_t k = 0;               ///< of top_k
  bool has_sorted_values = false;  ///< of bounds
  bool has_longest = false;        ///< fatlink's segmented_sort knows the longest segment
  bool is_special = false;  ///< CUB sorts no results of top_k, or knows that values are sorted
  std::size_t least_elements = 0;  ///< smaller arrays are not measured
};

constexpr std::size_t k_skewed = 0;             ///< a segment: a few runs have most elements
constexpr std::size_t k_one = ~std::size_t{0};  ///< a segment: one of all elements

/// Algorithms on runs of equal int32 keys.
inline void add_cases_by_key(std::vector<bench_case>& cases)
{
  using cub_calls::algorithm;
  using cub_calls::element;
  auto const add = [&](std::string const& name, algorithm kind, element type, std::string library,
                       std::string transform, std::size_t run) {
    auto const runs = run == k_skewed ? ", skewed runs" : ", runs of " + std::to_string(run);
    bench_case added{name + runs, kind, type, std::move(library), std::move(transform), run};
    if (kind == algorithm::reduce_by_key || kind == algorithm::scan_by_key)
      added.key_transform = "same_int32";
    cases.push_back(std::move(added));
  };
  for (std::size_t const run :
       {std::size_t{1}, std::size_t{3}, std::size_t{30}, std::size_t{10'000}, k_skewed}) {
    auto const type = element::float32;
    add("reduce_by_key", algorithm::reduce_by_key, type, "reduce_by_key_4", "add_float", run);
    add("scan_by_key", algorithm::scan_by_key, type, "scan_by_key_4", "add_float", run);
    add("unique_by_key", algorithm::unique_by_key, type, "unique_by_key", "same_int32", run);
    add("run_lengths", algorithm::run_lengths, element::int32, "run_lengths", "same_int32", run);
  }
  struct operator_of_size {
    element type;
    char const* bytes;
    char const* name;
  };
  for (auto const& [type, bytes, name] :
       {operator_of_size{element::uint8, "1", "add_uint8"},
        operator_of_size{element::pair, "8", "argmax"},
        operator_of_size{element::matrix, "16", "multiply_matrices"}}) {
    add("reduce_by_key", algorithm::reduce_by_key, type, std::string("reduce_by_key_") + bytes,
        name, 30);
    add("scan_by_key", algorithm::scan_by_key, type, std::string("scan_by_key_") + bytes, name, 30);
  }
  add("unique_by_key", algorithm::unique_by_key, element::pair, "unique_by_key_wide", "same_int32",
      30);
}

/// Algorithms on sorted arrays.
inline void add_sorted_cases(std::vector<bench_case>& cases)
{
  using cub_calls::algorithm;
  auto const number = cub_calls::element::float32;
  auto const pair = cub_calls::element::pair;
  cases.push_back({"merge, equal sizes", algorithm::merge, number, "merge_4", "less_float"});
  cases.push_back({"merge, equal sizes", algorithm::merge, pair, "merge_8", "less_pair"});
  cases.push_back({.name = "merge, 1000 and the rest",
                   .kind = algorithm::merge,
                   .type = number,
                   .library = "merge_4",
                   .transform = "less_float",
                   .first = 1000});
  for (auto const& [name, kind] : {std::pair("lower_bound", algorithm::lower_bound),
                                   std::pair("upper_bound", algorithm::upper_bound)}) {
    bench_case bound{name, kind, number, std::string(name) + "_4", "less_float"};
    bound.name = std::string(name) + ", random values";
    cases.push_back(bound);
    bound.has_sorted_values = true;
    bound.name = std::string(name) + ", sorted values";
    cases.push_back(bound);
    bound.is_special = true;
    bound.name = std::string(name) + ", sorted values, which CUB knows";
    cases.push_back(bound);
  }
  cases.push_back(
      {"lower_bound, random values", algorithm::lower_bound, pair, "lower_bound_8", "less_pair"});
}

/// The k largest floats and their indexes. CUB's function has results in no order: with a sort of
/// the results, and without.
inline void add_top_k_cases(std::vector<bench_case>& cases)
{
  using cub_calls::algorithm;
  for (std::size_t const k : {1, 1'000, 100'000, 1 << 20})
    for (auto const is_special : {false, true}) {
      auto const order = is_special ? ", CUB without order" : "";
      cases.push_back({.name = "top_k, " + std::to_string(k) + order,
                       .kind = algorithm::top_k,
                       .type = cub_calls::element::float32,
                       .library = "top_k_4",
                       .transform = "descending_float32",
                       .k = k,
                       .is_special = is_special,
                       .least_elements = k});
    }
}

inline void add_segmented_sort_cases(std::vector<bench_case>& cases)
{
  auto const add = [&](std::string const& segments, std::size_t segment, bool has_longest) {
    cases.push_back({.name = "segmented_sort, " + segments + (has_longest ? ", longest known" : ""),
                     .kind = cub_calls::algorithm::segmented_sort,
                     .type = cub_calls::element::float32,
                     .library = "segmented_sort_4",
                     .transform = "less_float",
                     .segment = segment,
                     .has_longest = has_longest,
                     .least_elements = segment == k_one ? 0 : segment});
  };
  for (auto const has_longest : {false, true}) {
    add("1 to 30", 15, has_longest);
    add("1000", 1'000, has_longest);
    add("2^20", std::size_t{1} << 20, has_longest);
  }
  add("one", k_one, false);
}

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
      {"partition3", algorithm::partition3, cub_calls::element::uint8, "partition3_1",
       "residues_uint8"},
      {"partition3", algorithm::partition3, number, "partition3_4", "signs_float"},
      {"partition3", algorithm::partition3, pair, "partition3_8", "by_range"},
  };
  for (std::size_t const segment : {16, 1'000, 1'000'000}) {
    auto const name = "segmented_reduce, " + std::to_string(segment);
    auto const kind = algorithm::segmented_reduce;
    cases.push_back({name, kind, number, "segmented_reduce_4", "add_float", segment});
    cases.push_back({name, kind, pair, "segmented_reduce_8", "argmax", segment});
  }
  add_cases_by_key(cases);
  cases.push_back({"histogram", algorithm::histogram, number, "histogram_4", "uniform_bins"});
  cases.push_back({"histogram", algorithm::histogram, pair, "histogram_8", "grid_bins"});
  cases.push_back({"map", algorithm::map, number, "map1", "scale_add"});
  cases.push_back({"map", algorithm::map, pair, "map2", "multiply_complex"});
  cases.push_back({"sort", algorithm::sort, number, "sort_4", "less_float"});
  cases.push_back({"sort", algorithm::sort, pair, "sort_8", "less_pair"});
  cases.push_back(
      {"radix_sort", algorithm::radix_sort, number, "radix_sort_4", "ascending_float32"});
  cases.push_back({"radix_sort", algorithm::radix_sort, pair, "radix_sort_8", "by_value"});
  add_segmented_sort_cases(cases);
  add_top_k_cases(cases);
  add_sorted_cases(cases);
  return cases;
}

}  // namespace algorithm_bench
