// SPDX-License-Identifier: Apache-2.0
// `fatlink run` of a library with a launch plan: any kernel, by its plan.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/launch_plan.hpp"
#include "link_flags.hpp"
#include "run/plan_arguments.hpp"
#include "run/plan_data.hpp"

namespace fatlink::cli {

/// The options of `fatlink run` that a plan uses.
struct plan_job {
  std::vector<std::filesystem::path> paths = {};  ///< the library, then the transforms
  plan_texts texts = {};
  generated_inputs generated = {};
  std::vector<link_mode> modes = {};
  std::string device = {};  ///< of --device
  cpu_options cpu = {};
  link_flags link = {};
  bool compare_cpu = false;  ///< also run on the reference device, and compare
  std::size_t print = 0;     ///< how many of the first results to show
  bool json = false;
};

/// The plan in the sidecar of a library; nothing without one.
/// @throws file_error as launch_plan::beside.
std::optional<launch_plan> plan_of_library(std::string const& library);

/// Links, runs and verifies; returns the exit status. @throws as the functions that it calls.
int run_plan(launch_plan plan, plan_job const& job);

}  // namespace fatlink::cli
