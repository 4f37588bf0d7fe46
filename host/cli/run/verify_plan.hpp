// SPDX-License-Identifier: Apache-2.0
// Compares the outputs of runs by a plan: with references, with files, with each other.
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "run/bind_plan.hpp"
#include "run/plan_data.hpp"
#include "run/plan_report.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// What outputs are compared with.
struct plan_expectations {
  launch_plan const& plan;
  run_data const& data;
  plan_references const& references;
};

/// Compares the outputs of every mode in `summary` with the references and the arrays of --expect,
/// and two modes with each other; keeps the expected text of the first `print` elements. Two
/// results may differ by twice the bound of the reference; without one as
/// k_without_bound says, which means nothing for floats that accumulate: these are not compared.
/// Of outputs with a length, a different number of elements is a failure.
/// @throws as plan_reference; usage_error an array of --expect of another size than the output.
void verify_modes(plan_expectations const& expected, plan_summary& summary, std::size_t print);

/// Compares the outputs of the first mode with those of `reference_device`, in the same way.
void verify_against_cpu(plan_expectations const& expected, mode_result const& reference_device,
                        plan_summary& summary);

}  // namespace fatlink::cli
