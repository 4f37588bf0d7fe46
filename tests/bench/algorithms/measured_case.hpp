// SPDX-License-Identifier: Apache-2.0
// One algorithm, measured: arrays, calls of CUB and of fatlink's plans, and whether they agree.
#pragma once

#include <string>

#include "bench_cases.hpp"
#include "fatlink/error.hpp"

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

/// Measures on the first GPU, with the libraries in the folder `data`.
/// @throws fatlink::error a library is missing, does not link or has another plan.
case_times measure_case(bench_case const& tested, std::size_t elements, std::string const& data,
                        int rounds);

/// Runs it on the reference device with few elements. @throws as measure_case.
void check_case(bench_case const& tested, std::string const& data);

}  // namespace algorithm_bench
