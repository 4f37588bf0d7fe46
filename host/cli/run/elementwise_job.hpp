// SPDX-License-Identifier: Apache-2.0
// What `fatlink run` executes of a library without a launch plan: a kernel that is elementwise on
// floats, with its inputs and outputs. Threads: one at a time.
#pragma once

#include <memory>

#include "compile/source_inputs.hpp"
#include "run/device_choice.hpp"
#include "run/run_arguments.hpp"
#include "run/run_inputs.hpp"
#include "run/run_kernel.hpp"
#include "run/run_links.hpp"
#include "run/run_report.hpp"
#include "verification/elements.hpp"
#include "verification/npy.hpp"

namespace fatlink::cli {

/// Inputs and outputs, read and checked without a device.
struct elementwise_job {
  run_inputs files;
  run_kernel kernel;
  std::unique_ptr<element_source> elements;
  std::unique_ptr<npy_writer> output;
  run_links links;
};

/// Reads and checks the inputs, chooses the reference, and opens the output; fills in `summary`
/// what is known without a device.
/// @throws error the files, the arguments or preflight.
elementwise_job prepare_elementwise(run_arguments const& arguments, device_choice& choice,
                                    run_summary& summary, compile_report& compiles);

/// What is executed and compared; without the results to show.
execution_request execution_request_of(elementwise_job const& job, run_summary const& summary);

}  // namespace fatlink::cli
