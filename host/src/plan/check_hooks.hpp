// SPDX-License-Identifier: Apache-2.0
// Compares the hooks that a launch plan names with those of the library, and the types of elements
// that inputs record for them (FATLINK_ELEMENT) with those that the plan states. Needs neither CUDA
// nor a GPU. Threads: no shared state.
#pragma once

#include <span>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// Findings plan-mismatch (errors): "computes" or "hook" of an argument names what is neither a
/// hook of a contract of `modules` nor a function that their PTX calls or defines. Nothing if a
/// module has LTO-IR without PTX, which does not show its functions.
/// @throws format_error an entry is damaged.
std::vector<finding> check_plan_hooks(launch_plan const& plan, std::span<fatbin const> modules);

/// Findings element-mismatch (errors): an input records other elements of a hook than the plan
/// states for the arrays that the hook handles, or two inputs record different ones where the plan
/// has one type. `modules`: the library's first, then those of the transforms.
std::vector<finding> check_elements(launch_plan const& plan, std::span<fatbin const> modules);

}  // namespace fatlink::detail
