// SPDX-License-Identifier: Apache-2.0
// What `fatlink run` executes, read and checked before a device is opened: the library, the
// transforms, the launch plan, the arrays. Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "run/bind_plan.hpp"
#include "run/plan_split.hpp"
#include "run/run_arguments.hpp"
#include "run/run_data.hpp"
#include "run/run_links.hpp"
#include "source_inputs.hpp"

namespace fatlink::cli {

/// A library with its launch plan.
struct run_library {
  std::filesystem::path file = {};
  std::optional<input> code = {};  ///< nothing: the file is a source, which is not compiled yet
  launch_plan plan = {};
  bool is_implied = false;  ///< whether the library states no plan
  double read_ms = 0;
};

/// `library`: a name or file; empty: the library that fatlink ships.
/// @throws file_error as input::read and launch_plan::beside; or there is no such library.
run_library read_library(std::string const& library);

/// The library, then the transforms; not read. @throws file_error a name is not installed.
std::vector<std::filesystem::path> find_files(std::string const& library,
                                              std::vector<std::string> const& transforms);

/// As above; without transforms, the one that fatlink ships, for its own library and those without
/// a plan.
std::vector<std::filesystem::path> find_files(run_library const& library,
                                              std::vector<std::string> const& transforms);

/// Everything that is known before a device is opened.
struct run_job {
  launch_plan plan = {};
  bool is_implied = false;
  plan_split split = {};
  run_links links = {};
  plan_references references = {};
  plan_arguments arguments = {};
  generated_inputs generated = {};
  run_data data = {};
  std::vector<std::filesystem::path> files = {};  ///< the library, then the transforms
  double read_ms = 0;                             ///< reading the inputs, compiles too
};

/// Reads the inputs and the arrays, checks the outputs, and runs preflight.
/// @throws usage_error an option has no meaning with the plan, or it cannot be divided among the
///   devices of a list. @throws error the files, the arguments or preflight.
run_job prepare_job(run_arguments const& arguments, device_choice& choice,
                    compile_report& compiles);

/// Warns of files of states that nothing says the size of; returns the warnings.
std::vector<std::string> warn_of_states(run_job const& job);

}  // namespace fatlink::cli
