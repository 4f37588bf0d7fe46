// SPDX-License-Identifier: Apache-2.0
// One algorithm, measured: arrays, calls of CUB and of fatlink's plans, and whether they agree.
#pragma once

#include <string>

#include "bench_cases.hpp"
#include "case_times.hpp"
#include "fatlink/error.hpp"

namespace algorithm_bench {

/// Measures on the first GPU, with the libraries in the folder `data`.
/// @throws fatlink::error a library is missing, does not link or has another plan.
case_times measure_case(bench_case const& tested, std::size_t elements, std::string const& data,
                        int rounds);

/// Runs it on the reference device with few elements. @throws as measure_case.
void check_case(bench_case const& tested, std::string const& data);

}  // namespace algorithm_bench
