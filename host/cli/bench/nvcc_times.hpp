// SPDX-License-Identifier: Apache-2.0
// nvcc's time for the same sources.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_job.hpp"

namespace fatlink::cli {

/// Compiles the sources of a job with nvcc, each to a fatbin with LTO-IR and PTX for sm_75.
class nvcc_times {
 public:
  /// Finds nvcc: in PATH, then in the toolkits of the search. Prints a warning if the job has
  /// sources that nvcc cannot compile, or there is no nvcc. `output`: a file to write.
  nvcc_times(bench_job const& job, std::string output);

  /// Measures one round; nothing without nvcc or sources.
  void measure();

  /// As docs/schemas/bench.json describes: medians of all rounds; null without any.
  [[nodiscard]] nlohmann::json row() const;

 private:
  /// Says why nvcc is not measured.
  void skip(std::string const& reason);
  [[nodiscard]] std::vector<std::string> command(std::filesystem::path const& source) const;

  bench_job const& job_;
  std::string output_;
  std::vector<std::filesystem::path> sources_;
  std::string file_;     ///< nvcc; empty: not measured
  std::string version_;  ///< "13.0"
  std::string header_;   ///< included before each source; empty: none
  std::vector<double> process_ms_;
  std::vector<double> cpu_ms_;
};

}  // namespace fatlink::cli
