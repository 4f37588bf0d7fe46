// SPDX-License-Identifier: Apache-2.0
// A launch plan whose element types are those of the transforms, and what they compute.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink::cli {

/// What the inputs state in their sidecars.
struct plan_references {
  std::vector<transform_reference> list = {};  ///< of the transforms, in their order
  /// Whether the last one is the library's: of the hooks that it defines itself.
  bool has_library = false;
};

struct bound_types {
  launch_plan plan = {};  ///< with types for all arguments
  plan_references references = {};
};

/// `paths`: the library, then the transforms; `modules`: those that a link takes of them.
/// @throws refused_error (plan-mismatch, element-mismatch) the plan does not fit the kernels or the
///   transforms. @throws usage_error nothing states the type of an argument.
/// @throws file_error a sidecar is malformed.
bound_types bind_plan(launch_plan plan, std::vector<std::filesystem::path> const& paths,
                      std::span<fatbin const> modules);

}  // namespace fatlink::cli
