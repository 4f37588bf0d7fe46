// SPDX-License-Identifier: Apache-2.0
// The report of `fatlink run` of a plan, as text and as JSON. It says which comparisons were made,
// and of those that were not, why.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compile/source_inputs.hpp"
#include "fatlink/device.hpp"
#include "fatlink/image.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/plan_data.hpp"
#include "verification/execute.hpp"
#include "verification/output_verification.hpp"

namespace fatlink::cli {

/// Comparisons by the name of an output.
using comparisons = std::map<std::string, output_verification>;

/// How "method" begins of comparisons for which nothing states a bound.
constexpr char const* k_without_bound = "integers exactly, floats up to 4 spacings";

struct mode_result {
  linked_image image = {};
  double load_ms = 0;       ///< wall time of loading; the reference device also links PTX then
  double launch_ms = 0;     ///< from the first launch to the end of the last, wall time
  double run_ms = 0;        ///< all launches, measured by the device's events
  time_span measured = {};  ///< of the launches, by the clock of the host
  std::map<std::string, host_array> outputs = {};
  std::byte unwritten = {};  ///< the byte that elements hold which no kernel wrote
  std::map<std::string, std::uint64_t> depths = {};  ///< as plan_extents
  comparisons verifications = {};  ///< with what "computes" and the references state
  comparisons expectations = {};   ///< with the arrays of --expect
};

struct plan_summary {
  device_info device = {};
  std::string no_gpu_reason = {};  ///< empty with --device, or if a GPU was found
  double device_ms = 0;            ///< opening the device, without what overlapped with the links
  double read_ms = 0;              ///< reading and checking the inputs
  launch_plan plan = {};
  std::vector<std::string> files = {};  ///< the library, then the transforms
  std::map<std::string, std::int64_t> sizes = {};
  std::vector<mode_result> modes = {};
  comparisons between = {};      ///< of two modes
  comparisons against_cpu = {};  ///< of the first mode with the reference device
  std::map<std::string, std::vector<std::string>> expected_text = {};
  std::size_t printed = 0;       ///< how many of the first elements of each output to show
  compile_report compiles = {};  ///< of the inputs that are sources
  std::vector<std::string> warnings = {};  ///< of the compiles and links
  bool resources = false;  ///< whether to report those of each image; all are cubins then

  /// Whether no comparison that was made failed.
  [[nodiscard]] bool verified() const;
};

/// A line for each comparison: "  reference    out: verified, …".
void print_comparisons(char const* title, comparisons const& results);
nlohmann::json comparisons_to_json(comparisons const& results);
/// The first `run.printed` elements of each output, as texts.
nlohmann::json first_elements(plan_summary const& run);

nlohmann::json to_json(plan_summary const& run);
void print_text(plan_summary const& run);

}  // namespace fatlink::cli
