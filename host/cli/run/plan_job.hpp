// SPDX-License-Identifier: Apache-2.0
// What `fatlink run` executes by a launch plan, read and checked before a device is opened.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/source_inputs.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/bind_plan.hpp"
#include "run/device_choice.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"
#include "run/run_arguments.hpp"
#include "run/run_links.hpp"

namespace fatlink::cli {

/// Everything that is known before a device is opened.
struct prepared_job {
  launch_plan plan = {};
  run_links links = {};
  plan_references references = {};
  plan_arguments arguments = {};
  generated_inputs generated = {};
  run_data data = {};
  double read_ms = 0;  ///< reading the inputs, compiles too
};

/// @throws usage_error an option has no meaning with a plan.
void check_arguments(launch_plan const& plan, run_arguments const& arguments);

/// The library, then the transforms.
std::vector<std::filesystem::path> paths_of(run_arguments const& arguments);

/// Reads the inputs and the arrays, checks the outputs, and runs preflight.
/// @throws error the files, the arguments or preflight.
prepared_job prepare_job(launch_plan plan, run_arguments const& arguments, device_choice& choice,
                         compile_report& compiles);

/// What is known without a device.
plan_summary summarize(prepared_job const& job, run_arguments const& arguments,
                       device_choice const& choice, compile_report const& compiles);

/// Warns of files of states that nothing says the size of; returns the warnings.
std::vector<std::string> warn_of_states(prepared_job const& job);

}  // namespace fatlink::cli
