// SPDX-License-Identifier: Apache-2.0
// The arguments of algorithm_bench. Threads: values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace algorithm_bench {

struct bench_options {
  std::string data = {};  ///< the folder of the libraries and transforms
  bool only_check = false;
  int rounds = 30;
  std::string only = {};  ///< how the names of the algorithms begin that are measured; empty: all
  std::vector<std::size_t> elements = {};
};

/// @throws std::invalid_argument an unknown option, an option without a value, a number that is
///   none or 0, or no folder.
bench_options read_options(std::vector<std::string> const& words);

}  // namespace algorithm_bench
