// SPDX-License-Identifier: Apache-2.0
// The program's verbs, and what shells and the build ask of it. A verb adds its subcommand to the
// parser; its callback does the work and sets the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

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

/// The first byte of each word after `--` of `fatlink cache record`, so that CLI11 takes none of
/// them for an option.
constexpr char k_verbatim_mark = '\x01';

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
/// `verb`: fatlink cache.
void add_cache_record(CLI::App& verb, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_explain(CLI::App& app, int& exit_status);
void add_bench(CLI::App& app, int& exit_status);

/// --help and --help-all of the program, and of verbs that are added later.
void use_help_format(CLI::App& program);

/// A code that `fatlink explain` explains, and what it means in one line.
struct explained_code {
  std::string code;
  std::string meaning;
};
/// The codes and patterns of codes, in the order of docs/findings.md; each once.
std::vector<explained_code> list_codes();

/// `fatlink --complete WORD...`: prints on standard output what `words.back()`, which may be empty,
/// can become, in the form that complete.cpp states. `words`: the command line without the
/// program's name.
void print_completions(CLI::App const& program, std::span<std::string const> words);

/// `fatlink --manual FILE`: `source`, a page in man(7), with the requests replaced that manual.cpp
/// states.
/// @throws usage_error there is no such command or group, or the page lacks one of them.
std::string complete_manual(CLI::App const& program, std::string const& source);

}  // namespace fatlink::cli
