// SPDX-License-Identifier: Apache-2.0
// The launch plans of the inputs of `fatlink check`, compared with libraries and transforms.
// Threads: no shared state.
#pragma once

#include <vector>

#include "catalogue/installed_library.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// A launch plan, and the modules of the file that it is beside.
struct stated_plan {
  launch_plan plan;
  std::vector<fatbin> modules;
  std::vector<fatbin> all = {};                      ///< `modules`, then those of the other inputs
  std::vector<input> inputs = {};                    ///< the file, then the other inputs
  std::vector<transform_reference> references = {};  ///< that the sidecars of `inputs` state
  installed_library const* library = nullptr;        ///< whose plan it is; null: that of an input
};

/// The plans beside `files` and `libraries`.
/// @throws file_error a plan or, with a plan, a sidecar that cannot be read, or that states a hook
///   that its input does not have.
std::vector<stated_plan> read_plans(std::vector<input> const& files,
                                    std::vector<installed_library> const& libraries);

/// What the transforms state that they compute, compared with "computes": plan-mismatch, and
/// element-mismatch where their elements have different types (errors) or no type is known of them
/// (a warning).
std::vector<finding> judge_references(stated_plan const& stated);

/// As judge_references, and whether the plan fits the kernels. @throws format_error an entry is
/// damaged.
std::vector<finding> judge_plan(stated_plan const& stated, entry_choice const& choice);

}  // namespace fatlink::cli
