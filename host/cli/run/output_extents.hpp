// SPDX-License-Identifier: Apache-2.0
// How many elements an output has, and should have. Threads: no shared state.
#pragma once

#include "fatlink/launch_plan.hpp"
#include "run/plan_data.hpp"
#include "verification/output_verification.hpp"

namespace fatlink::cli {

/// An output with one extent has a count: arrays of any dimensions fit. Any count may be expected
/// of one with a length.
/// @throws usage_error the array of --expect has other extents than the output.
void check_extents(plan_argument const& output, host_array const& expected,
                   host_array const& actual);

/// Of an output whose length is not in the array.
output_verification refuse_length(host_array const& output);

}  // namespace fatlink::cli
