// SPDX-License-Identifier: Apache-2.0
// The library and the transforms of `fatlink run`: their files, and the modules that links take of
// them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/source_inputs.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "run/device_choice.hpp"
#include "run/run_arguments.hpp"

namespace fatlink::cli {

struct run_inputs {
  std::vector<std::filesystem::path> paths;  ///< the library, then the transforms; one or more
  std::vector<input> inputs;                 ///< the content of each path
  std::vector<fatbin> modules;               ///< those of `inputs` that links take
  std::size_t library_modules = 0;  ///< of `modules`, those of the library, which are first
};

/// The files of --library and --transform, which name installed fatbins or files; empty: those that
/// fatlink ships. They are not read.
/// @throws file_error a name or a default is not installed.
run_inputs find_run_inputs(std::string const& library, std::vector<std::string> const& transforms);

/// The flags of the sources among `paths`. The reference device names the lines of errors, so it
/// gets them.
compile_flags source_flags(run_arguments const& arguments,
                           std::vector<std::filesystem::path> const& paths, device_choice& choice);

/// Reads the files of `job.paths`; sources are compiled. Returns the wall time, in milliseconds.
/// @throws as read_inputs.
double read_run_inputs(run_inputs& job, compile_flags const& flags, compile_report& report);

/// Selects `job.modules`, and counts those of the library, by the PTX, or else the SASS, that the
/// inputs hold. For every mode alike, so `request.target` and `request.allow_calls` are ignored.
/// @throws format_error as fatlink::select_modules.
void select_run_modules(run_inputs& job, preflight_request request);

/// For each module the file beside which its sidecar is: the transform; empty for the library's.
std::vector<std::filesystem::path> sidecar_owners(run_inputs const& job);

}  // namespace fatlink::cli
