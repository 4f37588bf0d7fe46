// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user does, and measures it from outside: wall time, and the processor time of
// the process and of all that it started, such as the helper.
#pragma once

#include <string>
#include <vector>

namespace fatlink::cli {

struct child_result {
  bool has_succeeded = false;  ///< started, and ended with status 0
  double ms = 0;               ///< wall time until the process ended
  double cpu_ms = 0;           ///< user and system time of the process and its descendants
  std::string output = {};     ///< its standard output
};

/// Runs `file` with the arguments `words`, of which the first is the program's name. Standard error
/// is discarded. Waits until the process and the descendants in its process group have ended.
child_result run_child(std::string const& file, std::vector<std::string> words);

/// This program, for run_child.
constexpr char const* k_this_program = "/proc/self/exe";

}  // namespace fatlink::cli
