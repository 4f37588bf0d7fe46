// SPDX-License-Identifier: Apache-2.0
// The launch plan of a library that was read, and whether what is read of a sidecar now belongs to
// an input that was read before. Threads: safe.
#pragma once

#include <string>
#include <vector>

#include "fatlink/input.hpp"
#include "fatlink/launch_plan.hpp"

namespace fatlink::detail {

/// The plan that the sidecar beside the file of `library` states.
/// @throws file_error there is none, or as launch_plan::beside. @throws as check_same_version.
[[nodiscard]] launch_plan library_plan(input const& library);

/// The kernels that a link of `inputs`, the library first, keeps for `plan`: those that it
/// launches; none, which keeps all, if the inputs have no other. The link is that of linker::link
/// then, so that the cache has one entry for both.
[[nodiscard]] std::vector<std::string> kernels_to_keep(launch_plan const& plan,
                                                       std::vector<input> const& inputs);

/// Call it after reading the sidecar: the files may have been replaced since `file` was read.
/// @throws format_error (digest-mismatch) the sidecar beside `file` states the digest of other
///   bytes. @throws file_error as find_sidecar.
void check_same_version(input const& file);

}  // namespace fatlink::detail
