// SPDX-License-Identifier: Apache-2.0
// `fatlink run` of a library with a launch plan: any kernel, by its plan. Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compile/source_inputs.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/run_arguments.hpp"

namespace fatlink::cli {

/// The plan in the sidecar of a library, a name or a file; nothing without one.
/// @throws file_error as launch_plan::beside.
std::optional<launch_plan> plan_of_library(std::string const& library);

/// Why a library, a file, has no launch plan: "there is no x.json with a launch plan".
/// @throws file_error its sidecar is malformed.
std::string explain_no_plan(std::filesystem::path const& library);

/// @throws usage_error `option` needs a launch plan, and `library`, a name or a file, has none.
[[noreturn]] void fail_without_plan(char const* option, std::string const& library);

/// @throws usage_error an option that only libraries with a launch plan take is given.
void refuse_plan_options(run_arguments const& arguments);

/// As run() of run/run_arguments.hpp, by the plan of the library.
int run_plan(launch_plan plan, run_arguments const& arguments, compile_report& compiles);

}  // namespace fatlink::cli
