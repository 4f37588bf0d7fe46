// SPDX-License-Identifier: Apache-2.0
// The launch plan of a library that was read. Threads: safe.
#pragma once

#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The plan that the sidecar beside the file of `library` states.
/// @throws file_error there is none, or as launch_plan::beside.
[[nodiscard]] launch_plan library_plan(input const& library);

}  // namespace fatlink::detail
