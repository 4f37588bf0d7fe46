// SPDX-License-Identifier: Apache-2.0
// Whether calls of one plan are calls of another one. Threads: safe.
#pragma once

#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// @throws refused_error plan-mismatch: an argument of `changed` that a caller gives differs from
///   that of `first` in name, role, type, dimensions or whether it has a default.
void check_same_arguments(launch_plan const& first, launch_plan const& changed);

}  // namespace fatlink::detail
