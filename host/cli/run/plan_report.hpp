// SPDX-License-Identifier: Apache-2.0
// The report of `fatlink run` of a plan, as text and as JSON. It says which comparisons were made,
// and of those that were not, why.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/image.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/plan_data.hpp"
#include "verification/output_verification.hpp"

namespace fatlink::cli {

/// Comparisons by the name of an output.
using comparisons = std::map<std::string, output_verification>;

struct mode_result {
  linked_image image = {};
  double run_ms = 0;  ///< all launches, measured by the device's events
  std::map<std::string, host_array> outputs = {};
  comparisons verifications = {};  ///< with what "computes" and the references state
  comparisons expectations = {};   ///< with the files of --expect
};

struct plan_summary {
  device_info device;
  launch_plan plan = {};
  std::vector<std::string> files = {};  ///< the library, then the transforms
  std::map<std::string, std::int64_t> sizes = {};
  std::vector<mode_result> modes = {};
  comparisons between = {};      ///< of two modes
  comparisons against_cpu = {};  ///< of the first mode with the reference device
  std::map<std::string, std::vector<std::string>> expected_text = {};

  /// Whether no comparison that was made failed.
  [[nodiscard]] bool verified() const;
};

nlohmann::json to_json(plan_summary const& run);
/// Shows the first `print` elements of each output.
void print_text(plan_summary const& run, std::size_t print);

}  // namespace fatlink::cli
