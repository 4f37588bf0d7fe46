// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fatlink {

/// The descriptor on which the host may give the helper a pipe for the reason of its end.
constexpr int k_status_descriptor = 3;

/// Closes all descriptors but 0, 1, 2 and the status pipe. Returns the status pipe's; -1 where
/// descriptor 3 is no pipe.
int keep_own_descriptors();

}  // namespace fatlink
