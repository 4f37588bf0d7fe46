// SPDX-License-Identifier: Apache-2.0
// Compares a launch plan with the kernels of its fatbin. Needs neither CUDA nor a GPU.
// Threads: no shared state.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

struct plan_check {
  /// The entries of the link that is checked; nothing: every entry with PTX or SASS.
  std::optional<entry_choice> choice = {};
  /// The type that the transform binds to "element". Arguments of it are not compared without.
  std::optional<element_type> element = {};
};

/// Findings plan-mismatch (errors): a launch whose kernel none of `modules` has, or which passes
/// another number of arguments than the kernel takes, or one of another size. At most one for each
/// launch. A kernel that is not found is no finding if a module has LTO-IR without PTX. And those
/// of check_plan_hooks.
/// @throws format_error an entry is damaged.
std::vector<finding> check_plan(launch_plan const& plan, std::span<fatbin const> modules,
                                plan_check const& request = {});

/// "reduce_tiles(in: pointer, n: uint64, init: element, uint32)".
std::string launch_signature(launch_plan const& plan, plan_launch const& launch);

}  // namespace fatlink::detail
