// SPDX-License-Identifier: Apache-2.0
// What a run reads: arrays, values and states, and the memory that they take. Units: elements,
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "fatlink/prepare.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"
#include "run/bind_plan.hpp"
#include "run/plan_arguments.hpp"
#include "run/run_array.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// How a run holds the arrays of its plan.
struct array_copies {
  std::size_t inputs = 1;   ///< copies of each input on the host
  std::size_t outputs = 1;  ///< copies of each output on the host: one for each link mode
  bool on_host = false;     ///< whether device memory is the host's: on the reference device
};

/// The transform whose hook a state is for; null if none states a state.
transform_reference const* owner_of(plan_argument const& state,
                                    std::vector<transform_reference> const& transforms);

/// How inputs that no file states are made.
struct generated_inputs {
  std::size_t elements = 65536;    ///< the value of the first size that nothing states
  bool must_use_elements = false;  ///< it is an error if `elements` is the value of no size
  std::uint64_t seed = 0;
  array_copies copies = {};  ///< of all arrays, for the check of the machine's memory
};

/// What a run reads; outputs are those of each mode.
struct run_data {
  std::map<std::string, std::int64_t> sizes = {};
  std::map<std::string, run_array> inputs = {};
  std::map<std::string, host_array> values = {};              ///< of one element each
  std::map<std::string, std::vector<std::byte>> states = {};  ///< empty: null
  std::map<std::string, run_array> expected = {};             ///< of --expect, by output
  /// Inputs whose extents the device determines; `inputs` lacks them until add_device_inputs.
  std::vector<std::string> of_device = {};
  /// Whether the device determines extents, so that the memory of all arrays is not checked yet.
  bool is_memory_unchecked = false;
};

/// Reads, generates and checks what the plan needs. `formulas.plan` has types for all arguments.
/// @throws usage_error an input of another extent than the plan's, sizes that contradict each
///   other, a missing value, a state of another size than its struct, or of a hook that has none;
///   names the argument, what is expected and what is found.
/// @throws unavailable_error (out-of-memory) as check_memory.
/// @throws refused_error (element-mismatch) an array of another type than the argument.
/// @throws file_error as npy_reader.
run_data read_run_data(detail::plan_formulas const& formulas, plan_arguments const& arguments,
                       plan_references const& references, generated_inputs const& generated);

/// Adds data.of_device, with the extents that `code` needs on its device, once the memory of all
/// arrays is checked; the other parameters as for read_run_data. Of inputs that are there already,
/// checks that `code` needs their extents.
/// @throws usage_error an input of another extent: of a file, or of the code that ran before.
/// @throws unavailable_error (out-of-memory) as check_memory.
void add_device_inputs(run_data& data, prepared_plan const& code, plan_arguments const& arguments,
                       generated_inputs const& generated);

}  // namespace fatlink::cli
