// SPDX-License-Identifier: Apache-2.0
// The report of `fatlink run`, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compile/source_inputs.hpp"
#include "fatlink/device.hpp"
#include "fatlink/image.hpp"
#include "verification/execute.hpp"

namespace fatlink::cli {

/// Wall time of each step that produced `image`, in milliseconds; `read_ms`: reading the inputs.
nlohmann::json describe_start(linked_image const& image, double read_ms);

struct run_summary {
  device_info device;
  std::string no_gpu_reason;  ///< empty with --device, or if a GPU was found
  double device_ms = 0;       ///< opening the device, without what overlapped with the links
  double read_ms = 0;         ///< reading and checking the fatbins
  compile_report compiles;    ///< of the inputs that are sources
  std::string library;        ///< stems of the file names
  std::string transform;
  std::vector<std::string> files;  ///< the library, then the transforms
  std::string kernel;
  std::size_t elements = 0;
  std::optional<reference> expected;
  std::string no_reference;               ///< why there is no reference; empty with one
  std::vector<std::string> filled_hooks;  ///< in order of name
  std::vector<linked_image> images;
  execution_report results;
  std::vector<std::string> warnings;  ///< of the compiles and links
  bool resources = false;  ///< whether to report those of each image; all are cubins then

  /// Whether every mode agrees with the reference, if there is one, and the modes with each other.
  [[nodiscard]] bool verified() const;
};

nlohmann::json to_json(run_summary const& run);
/// What it says of the results: "agree", "reference", "not_verified" and, if the modes disagree,
/// "first_disagreement".
nlohmann::json verification_to_json(run_summary const& run);
void print_text(run_summary const& run);

/// Prints whether the modes agree, and the first elements of --print.
void print_agreement(run_summary const& run);
void print_results(run_summary const& run);

/// "verified, max 0.5 ulp (tolerance 2)", or why it is not.
std::string describe_verification(run_summary const& run, verification const& result);
/// The first failure.
nlohmann::json first_failure_to_json(verification const& result);
/// Prints the first failure, if there is one.
void print_failure(char const* title, verification const& result);

}  // namespace fatlink::cli
