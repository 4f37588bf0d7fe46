// SPDX-License-Identifier: Apache-2.0
// What `fatlink run` says of a finished run, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/image.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {

/// Where the time until `image` was there went, in milliseconds; `read_ms` is the inputs'.
nlohmann::json start_of(linked_image const& image, double read_ms);

struct run_summary {
  device_info device;
  std::string no_gpu_reason;  ///< empty where a device was asked for, or a GPU found
  double device_ms = 0;       ///< opening the device: the driver, its context
  double read_ms = 0;         ///< reading and checking the fatbins
  std::string library;        ///< stems, as a person says them
  std::string transform;
  std::vector<std::string> files;  ///< of the library, then of the transforms
  std::string kernel;
  std::size_t elements = 0;
  std::optional<reference> expected;
  std::string no_reference;               ///< why there is none; empty where there is
  std::vector<std::string> filled_hooks;  ///< in order of name
  std::vector<linked_image> images;
  execution_report results;

  /// Every mode against the reference where there is one, and the modes with each other.
  [[nodiscard]] bool verified() const;
};

nlohmann::json to_json(run_summary const& run);
void print_text(run_summary const& run);

}  // namespace fatlink::cli
