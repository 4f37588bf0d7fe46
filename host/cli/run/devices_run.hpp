// SPDX-License-Identifier: Apache-2.0
// What a run on several devices did, by a plan or not. Units: elements, bytes, milliseconds.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/devices.hpp"
#include "run/element_part.hpp"
#include "run/plan_report.hpp"
#include "run/run_report.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {

/// A device's part in one mode.
struct mode_on_device {
  double load_ms = 0;       ///< wall time
  double run_ms = 0;        ///< the launches, measured by the device's events
  time_span measured = {};  ///< of the same, by the clock of the host
  std::optional<verification> against_reference = {};  ///< without a plan, with a reference
  comparisons references = {};    ///< by a plan, with what "computes" and the references state
  comparisons expectations = {};  ///< by a plan, with the arrays of --expect
};

/// One of the devices.
struct device_run {
  std::string device = {};                 ///< its name: "gpu:1"
  std::optional<device_info> info = {};    ///< empty: it could not be opened
  element_part part = {};                  ///< what it processes
  std::exception_ptr failure = {};         ///< why it did not; null: it did
  std::vector<mode_on_device> modes = {};  ///< empty: it failed
};

struct devices_run {
  /// All devices together, without a device, images or results of a mode; without a plan, with
  /// whether two modes agree.
  run_summary whole = {};
  std::string plan = {};                           ///< its name; empty: without a plan
  std::map<std::string, std::int64_t> sizes = {};  ///< of the plan, for all devices together
  double element_bytes = 0;                        ///< read and written for each element
  std::vector<link_mode> modes = {};
  std::vector<shared_images> images = {};  ///< of each mode: its links that succeeded
  std::vector<device_run> devices = {};
  comparisons between = {};                                ///< by a plan, of two modes
  nlohmann::json first_results = nlohmann::json::array();  ///< of --print, as texts

  /// Whether at least one device did not fail.
  [[nodiscard]] bool has_results() const;
  /// Whether no comparison that was made failed.
  [[nodiscard]] bool verified() const;
  /// Whether every element was processed.
  [[nodiscard]] bool is_complete() const;
  /// The largest exit status: of the results and of each device that failed.
  [[nodiscard]] int status() const;
};

/// All devices that ran, in one mode.
struct mode_total {
  std::size_t devices = 0;
  std::size_t elements = 0;
  double run_ms = 0;   ///< the slowest device's
  double span_ms = 0;  ///< from the first begin to the last end, by the clock of the host
};
mode_total total_of(devices_run const& run, std::size_t index);

/// Whether the results of one device in one mode are right; nothing if nothing was compared.
std::optional<bool> is_verified(mode_on_device const& mode);

}  // namespace fatlink::cli
