// SPDX-License-Identifier: Apache-2.0
// The report of `fatlink run`, on one device or several, as text and as JSON (fatlink.run/2). It
// says which comparisons were made, and of those that were not, why. Units: elements, bytes,
// milliseconds.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fatlink/device_info.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/image.hpp"
#include "fatlink/launch_plan.hpp"
#include "run/execute_plan.hpp"
#include "run/verify_plan.hpp"
#include "source_inputs.hpp"

namespace fatlink::cli {

/// One of the devices.
struct device_run {
  std::string device = {};               ///< its name: "gpu:1"
  std::optional<device_info> info = {};  ///< empty: it could not be opened
  element_part part = {};                ///< the rows that it processes
  std::exception_ptr failure = {};       ///< why it did not; null: it did
  run_data data = {};                    ///< what it ran with
  std::vector<mode_result> modes = {};   ///< empty: it failed
  /// In each mode, whether its results are right; nothing if nothing was compared.
  std::vector<std::optional<bool>> verified = {};
};

struct run_report {
  launch_plan plan = {};
  bool is_implied = false;                         ///< whether the plan is the implied one
  std::vector<std::string> files = {};             ///< the library, then the transforms
  std::set<std::string> filled_hooks = {};         ///< that transforms fill
  std::map<std::string, std::int64_t> sizes = {};  ///< for all devices together
  std::optional<std::size_t> rows = {};            ///< that are divided; nothing: the plan is not
  std::size_t row_bytes = 0;                       ///< of inputs and outputs, for each row
  std::vector<link_mode> modes = {};
  std::vector<shared_images> images = {};  ///< of each mode: its links that succeeded
  std::vector<device_run> devices = {};
  std::vector<transform_reference> references = {};  ///< that results were compared with
  part_comparison results = {};                      ///< of all devices
  comparisons against_cpu = {};  ///< of the first mode with the reference device
  nlohmann::json first_rows = nlohmann::json::array();
  std::string no_gpu_reason = {};  ///< empty with --device, or if a GPU was found
  double device_ms = 0;            ///< opening the devices, without what overlapped with the links
  double read_ms = 0;              ///< reading and checking the inputs
  double verify_ms = 0;            ///< copying results back and comparing them
  compile_report compiles = {};    ///< of the inputs that are sources
  std::vector<std::string> warnings = {};  ///< of the compiles and links
  bool resources = false;  ///< whether to report those of each image; all are cubins then

  /// Whether no comparison that was made failed.
  [[nodiscard]] bool verified() const;
  /// Whether every row was processed.
  [[nodiscard]] bool is_complete() const;
  /// The largest exit status: of the results and of each device that failed.
  [[nodiscard]] int status() const;
};

/// Whether the comparisons of one mode are right; nothing if nothing was compared.
std::optional<bool> is_verified(mode_comparisons const& mode);

nlohmann::json report_json(run_report const& run);
void print_text(run_report const& run);
/// Prints the error of each device that failed.
void print_failures(run_report const& run);

/// "LTO link".
char const* name_of(link_mode mode);

/// Wall time of each step that produced `image`, in milliseconds; `read_ms`: reading the inputs.
nlohmann::json describe_start(linked_image const& image, double read_ms);

}  // namespace fatlink::cli
