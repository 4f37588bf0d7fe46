// SPDX-License-Identifier: Apache-2.0
// Which launches of a plan may overlap the launch before them. Threads: no shared state.
#pragma once

#include <span>

#include "fatlink/fatbin.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

/// Clears `overlap` of launches whose kernel is linked from an entry for less than sm_90, whose
/// code cannot wait by griddepcontrol.wait, or from one whose kernels cannot be seen.
/// @throws format_error an entry is damaged.
void clear_unsafe_overlaps(launch_plan& plan, std::span<fatbin const> modules,
                           entry_choice const& choice);

}  // namespace fatlink::detail
