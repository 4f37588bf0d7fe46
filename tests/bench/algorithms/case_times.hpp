// SPDX-License-Identifier: Apache-2.0
// The times of one algorithm, and how they are shown: a table in Markdown. Threads: values.
#pragma once

#include <cstddef>
#include <string>

#include "bench_cases.hpp"

namespace algorithm_bench {

/// Microseconds of one call.
struct case_times {
  double cub_us = 0;
  double lto_us = 0;
  double ptx_us = 0;
  double copy_us = 0;                  ///< of a copy that reads and writes as many bytes
  double bytes = 0;                    ///< read and written, each element once
  unsigned long long differences = 0;  ///< words of the results that are not those of CUB
};

/// The two lines above the rows.
std::string table_head();
/// One line. Ratios: how many times as fast as CUB, or as the copy.
std::string table_row(bench_case const& tested, std::size_t elements, case_times const& times);

}  // namespace algorithm_bench
