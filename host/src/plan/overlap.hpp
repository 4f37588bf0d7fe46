// SPDX-License-Identifier: Apache-2.0
// Which launches of a plan may overlap the launch before them. Threads: no shared state.
#pragma once

#include <cstddef>
#include <span>

#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"
#include "plan/plan_values.hpp"

namespace fatlink::detail {

/// Clears `overlap` of launches whose kernel is linked from an entry for less than sm_90, whose
/// code cannot wait by griddepcontrol.wait, or from one whose kernels cannot be seen.
/// @throws format_error an entry is damaged.
void clear_unsafe_overlaps(launch_plan& plan, std::span<fatbin const> modules,
                           entry_choice const& choice);

/// Whether launch `index` overlaps what is queued before it: it states so, and an earlier launch of
/// this call, with `values`, is made, or the first launch of the plan states it, too.
bool overlaps(launch_plan const& plan, plan_values const& values, std::size_t index);

}  // namespace fatlink::detail
