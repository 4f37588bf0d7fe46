// SPDX-License-Identifier: Apache-2.0
// The outputs of a plan's parts on several devices: verified, and put together again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/devices_run.hpp"
#include "run/plan_job.hpp"
#include "run/plan_split.hpp"

namespace fatlink::cli {

/// What one device computed.
struct plan_part {
  run_data data = {};
  std::vector<mode_result> modes = {};  ///< empty: it failed
};

/// Compares the results of every part as verify_modes does, adds them to the rows of `run`, and
/// shows the first `printed` elements.
void verify_parts(prepared_job const& job, plan_split const& split, std::vector<plan_part>& parts,
                  std::size_t printed, devices_run& run);

/// An output of mode `mode`, of all parts that did not fail, of which there is one: one after the
/// other, or their sum.
host_array whole_output(plan_split const& split, std::vector<plan_part> const& parts,
                        std::string const& name, std::size_t mode);

}  // namespace fatlink::cli
