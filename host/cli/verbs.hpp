// SPDX-License-Identifier: Apache-2.0
// The program's verbs. Each adds its subcommand to the parser; its callback does the work and sets
// the exit status.
#pragma once

#include <CLI/CLI.hpp>

namespace fatlink::cli {

/// Exit statuses, as --help and the manual page list them.
enum status : int {
  k_done = 0,
  k_not_verified = 1,
  k_usage = 2,
  k_bad_file = 3,
  k_refused = 4,
  k_unavailable = 5,
  k_defect = 70,
};

/// The help of --json.
constexpr char const* k_json_help = "print one JSON object on standard output";

void add_run(CLI::App& app, int& exit_status);
void add_link(CLI::App& app, int& exit_status);
void add_check(CLI::App& app, int& exit_status);
void add_inspect(CLI::App& app, int& exit_status);
void add_compile(CLI::App& app, int& exit_status);
void add_pack(CLI::App& app, int& exit_status);
void add_digest(CLI::App& app, int& exit_status);
void add_list(CLI::App& app, int& exit_status);
void add_cache(CLI::App& app, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_bench(CLI::App& app, int& exit_status);

}  // namespace fatlink::cli
