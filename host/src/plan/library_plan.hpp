// SPDX-License-Identifier: Apache-2.0
// The launch plan of a library that was read. Threads: safe.
#pragma once

#include <string>
#include <vector>

#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The plan that the sidecar beside the file of `library` states.
/// @throws file_error there is none, or as launch_plan::beside.
[[nodiscard]] launch_plan library_plan(input const& library);

/// The kernels that a link of `inputs`, the library first, keeps for `plan`: those that it
/// launches; none, which keeps all, if the inputs have no other. The link is that of linker::link
/// then, so that the cache has one entry for both.
[[nodiscard]] std::vector<std::string> kernels_to_keep(launch_plan const& plan,
                                                       std::vector<input> const& inputs);

}  // namespace fatlink::detail
