// SPDX-License-Identifier: Apache-2.0
// Compares the outputs of a run: with references, with files, with each other. Where results depend
// on the inputs in their own row only, some rows are read and compared at a time, so that the
// host's memory does not depend on their number. Threads: one at a time.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/bind_plan.hpp"
#include "run/execute_plan.hpp"
#include "run/plan_split.hpp"
#include "run/run_data.hpp"
#include "verification/output_verification.hpp"

namespace fatlink::cli {

/// Comparisons by the name of an output.
using comparisons = std::map<std::string, output_verification>;
/// Adds the comparisons of other elements.
void add(comparisons& whole, comparisons const& part);

/// How "method" begins of comparisons for which nothing states a bound.
constexpr char const* k_without_bound = "integers exactly, floats up to 4 spacings";

/// What outputs are compared with.
struct plan_expectations {
  launch_plan const& plan;
  plan_references const& references;
  std::string no_reference = {};  ///< why no reference describes the outputs; empty: one may
};

/// Of one mode.
struct mode_comparisons {
  comparisons references = {};    ///< with what "computes" and the references state
  comparisons expectations = {};  ///< with the arrays of --expect
};

/// Of all modes, in the order of the modes.
struct part_comparison {
  std::vector<mode_comparisons> modes = {};
  comparisons between = {};  ///< of two modes
  /// Of outputs that a reference contradicts, by rows: the inputs of the first failure.
  std::map<std::string, std::map<std::string, std::string>> failing_inputs = {};

  /// Adds the comparisons of other elements, which follow.
  void add(part_comparison const& other);
  /// Adds `distance` of each output to the indices.
  void move(std::function<std::size_t(std::string const& output)> const& distance);
};

/// Compares the outputs of every mode with the references and the arrays of --expect, and two modes
/// with each other. Two results may differ by twice the bound of the reference; without one as
/// k_without_bound says, which means nothing for floats that accumulate: these are not compared.
/// Of outputs with a length, a different number of elements is a failure. `data`: what the modes
/// ran with. `progress` gets the part of the work that is done; may be empty.
/// @throws as plan_reference; usage_error an array of --expect of another size than the output.
part_comparison compare_modes(plan_expectations const& expected, plan_split const& split,
                              run_data const& data, std::vector<mode_result> const& modes,
                              std::function<void(double)> const& progress);

/// Compares the outputs of a mode with those of the reference device, in the same way.
comparisons compare_with_cpu(plan_expectations const& expected, plan_split const& split,
                             run_data const& data, mode_result const& reference_device,
                             mode_result const& mode);

/// The first `count` elements of each output in every mode, as texts, with the expected values and,
/// by rows, the inputs that they are computed from: {"output", "index", "inputs", "ptx", …}.
nlohmann::json first_rows(plan_expectations const& expected, plan_split const& split,
                          run_data const& data, std::vector<mode_result> const& modes,
                          std::size_t count);

/// "53", or in an array with several extents "1, 0".
std::string index_text(std::vector<std::size_t> const& extents, std::size_t index);

}  // namespace fatlink::cli
