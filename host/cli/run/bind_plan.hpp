// SPDX-License-Identifier: Apache-2.0
// A launch plan whose element types are those of the transforms, and what they compute.
#pragma once

#include <span>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// What the inputs state in their sidecars.
struct plan_references {
  std::vector<transform_reference> list = {};  ///< of the transforms, in their order
  /// Whether the last one is the library's: of the hooks that it defines itself.
  bool has_library = false;
  /// Whether a transform has no sidecar with "hooks": its hooks may read a state.
  bool is_incomplete = false;
  /// Of each transform with a .json that does not count, why: "a.json is the .json of another
  /// file".
  std::vector<std::string> unused = {};
};

struct bound_types {
  launch_plan plan = {};  ///< with types for all arguments
  plan_references references = {};
};

/// `inputs`: the library, then the transforms.
/// @throws file_error (invalid-sidecar) a sidecar is malformed, or states a hook that its input
/// does not have.
plan_references read_references(std::span<input const> inputs);

/// `inputs` as above; `modules`: those that a link takes of them.
/// @throws refused_error (plan-mismatch, element-mismatch) the plan does not fit the kernels or the
///   transforms. @throws file_error a sidecar with "hook" states one that no input calls.
/// @throws usage_error nothing states the type of an argument.
/// @throws file_error as read_references.
bound_types bind_plan(launch_plan plan, std::span<input const> inputs,
                      std::span<fatbin const> modules);

}  // namespace fatlink::cli
