// SPDX-License-Identifier: Apache-2.0
// The options of `fatlink run`, and how it runs once or again and again. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/source_inputs.hpp"
#include "fatlink/device.hpp"
#include "link_flags.hpp"
#include "run/plan_arguments.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

struct run_arguments {
  std::string library;
  std::vector<std::string> transforms;
  std::string watched;
  std::string kernel;
  std::string mode = "both";
  std::string device;
  cpu_options cpu;
  std::size_t elements = 65536;
  bool states_elements = false;  ///< whether --elements is given
  plan_texts plan;
  bool compare_cpu = false;
  std::uint64_t seed = 0;
  std::size_t print = 0;
  link_flags link;
  bool resources = false;
  bool json = false;
};

/// Adds the options of the verb to it; `arguments` must live as long as `verb`.
void add_run_arguments(CLI::App& verb, run_arguments& arguments);

/// `arguments` with the library that the transforms are for, if none is given: library_for.
/// @throws usage_error as library_for.
run_arguments with_library(run_arguments arguments);

/// Links, executes and verifies. Returns the exit status; prints the report. `compiles` gets
/// what was compiled, also if it throws later.
/// @throws error the inputs, the links or the device.
int run(run_arguments const& arguments, compile_report& compiles);

/// As run() with --transform of the watched file, again after each change of a file that it reads.
/// @throws file_error the file cannot be read at the start. @throws usage_error with --json.
int run_watching(run_arguments arguments);

}  // namespace fatlink::cli
