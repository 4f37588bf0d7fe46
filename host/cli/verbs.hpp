// SPDX-License-Identifier: Apache-2.0
// The program's verbs: each adds its subcommand to the parser, and on being chosen does the work
// and sets the exit status.
#pragma once

#include <CLI/CLI.hpp>

namespace fatlink::cli {

/// Exit statuses, as DESIGN and --help state them.
enum status : int {
  k_done = 0,
  k_not_verified = 1,
  k_usage = 2,
  k_bad_file = 3,
  k_refused = 4,
  k_unavailable = 5,
  k_defect = 70,
};

void add_run(CLI::App& app, int& exit_status);
void add_link(CLI::App& app, int& exit_status);
void add_check(CLI::App& app, int& exit_status);
void add_inspect(CLI::App& app, int& exit_status);
void add_digest(CLI::App& app, int& exit_status);
void add_list(CLI::App& app, int& exit_status);
void add_cache(CLI::App& app, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_bench(CLI::App& app, int& exit_status);

}  // namespace fatlink::cli
